"""The audit log; for administrators."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query

from towpath.http import audit
from towpath.http.policy import Admin
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.routes.tokens import After, Limit
from towpath.server.schemas.audit import AuditLine
from towpath.server.schemas.base import Page

router = Router(prefix="/api/audit", tags=["audit"])


@router.get("", operation_id="list_audit")
async def list_audit(
    _principal: Admin,
    app: Engine,
    account: Annotated[UUID | None, Query(description="Only what this account did (its id).")] = None,
    after: After = None,
    limit: Limit = 100,
) -> Page[AuditLine]:
    """What was done, the newest first."""
    who = None if account is None else str(account)
    found = await audit.page(app.services.store, account_id=who, after=after, limit=limit)
    lines = [AuditLine.model_validate(item, from_attributes=True) for item in found]
    return Page(items=lines, next=found[-1].id if len(found) == limit else None)
