"""Notices of buckets that come to an address of this server, as MinIO and SeaweedFS send them."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from towpath import SchemaInvalid
from towpath.fleet import arrivals, events, schemas
from towpath.fleet.notices import intakes_of
from towpath.http.policy import TokenWriter
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/fleet", tags=["fleet"])
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}}


@router.post("/events", operation_id="notify_fleet", openapi_extra=_BODY, responses=responses(409))
async def notify_fleet(principal: TokenWriter, app: Engine, request: Request) -> schemas.BucketNotice:
    """A bucket tells of its objects: what S3, MinIO and SeaweedFS send. Each becomes a task of the orchestrators that look
    after its bucket, if these work for the caller's tenant."""
    intakes = [one for one in await intakes_of(app) if one.tenant == principal.tenant]
    if not intakes:
        raise conflict("no orchestrator of this tenant looks after a bucket; start one: towpath fleet orchestrate")
    try:
        notice = events.read(await request.body())
    except SchemaInvalid as error:
        error.path = "body"
        raise
    counts = {arrivals.TAKEN: 0, arrivals.KNOWN: 0, arrivals.IGNORED: notice.ignored}
    for found in notice.created:
        intake = next((one for one in intakes if one.concerns(found)), None)
        counts[arrivals.IGNORED if intake is None else await arrivals.take(app, intake, found)] += 1
    return schemas.BucketNotice(**counts)
