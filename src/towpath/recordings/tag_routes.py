"""The tags of a tenant's recordings."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from towpath.http import shapes
from towpath.http.policy import Reader, tenant_of
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.recordings import schemas

router = Router(prefix="/api/recordings", tags=["recordings"])


class TagQuery(shapes.Request):
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


@router.get("/tags", operation_id="list_recording_tags")
async def list_recording_tags(principal: Reader, app: Engine, asked: Annotated[TagQuery, Query()]) -> list[schemas.Tag]:
    """Those in use, the most used first."""
    tenant = tenant_of(principal, asked.tenant) or principal.tenant
    rows = await app.query("recording_tags_known", tenant=tenant, limit=asked.limit)
    return [schemas.Tag(tag=row["tag"], recordings=row["recordings"]) for row in rows]
