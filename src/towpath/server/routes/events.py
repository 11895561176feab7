"""The push stream of job events."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Header, Query, Request
from pydantic import Field

from towpath.engine.app import App
from towpath.engine.asking.reading import check_id
from towpath.http.authentication import still_holds
from towpath.http.policy import Reader, tenant_of
from towpath.http.problems import invalid, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.push import EventStream, Wanted
from towpath.push.wanted import KINDS
from towpath.server.routes.sharing import no_job
from towpath.server.schemas.base import Request as Asked
from towpath.server.schemas.base import Text
from towpath.server.schemas.bulk import JobId
from towpath.server.schemas.stream import StreamMessage
from towpath.server.streams import hub_of
from towpath.store.contract import Tx

router = Router(prefix="/api/events", tags=["jobs"])

_TOKEN = "The id of the last message that was received; the header Last-Event-ID goes before it."
_TYPES = "Only these messages: `job`, `deleted` (of jobs), and kinds of things that jobs work on, such as `recording`."
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"model": StreamMessage, "description": "A stream that does not end; each message's `data` is one of these."}
}


class StreamQuery(Asked):
    job_id: Annotated[JobId | None, Field(description="Only this job.")] = None
    tenant: Annotated[Text | None, Field(min_length=1, max_length=500, description="For admins: of one tenant.")] = None
    types: Annotated[list[Text], Field(description=_TYPES, default_factory=list, max_length=50)]
    after: Annotated[str | None, Field(max_length=16_000, description=_TOKEN)] = None


@router.get(
    "", operation_id="stream_events", status_code=200, response_class=EventStream, responses=_STREAM | responses(404, 429)
)
async def stream_events(
    request: Request,
    principal: Reader,
    app: Engine,
    asked: Annotated[StreamQuery, Query()],
    last_event_id: Annotated[str | None, Header(description=_TOKEN)] = None,
) -> EventStream:
    """What happens to jobs, as it happens (server-sent events).

    A message's `id` is where to go on after it: nothing is lost and nothing comes twice, whichever server process answers
    and however long ago it was, up to a week. What cannot be gone on from is answered by a `reset` message. Blocks without
    data are heartbeats and move the id along.
    """
    token = last_event_id or asked.after
    wanted = Wanted(tenant_of(principal, asked.tenant), kinds=_kinds(app, asked.types))
    if asked.job_id is not None:
        wanted = replace(wanted, job_id=await _own_job_id(app, wanted.tenant, asked.job_id, returning=bool(token)))
    hub, holds = hub_of(request), lambda: still_holds(request, principal)
    return EventStream(hub, wanted, token, principal.account_id, holds, principal.credential)


def _kinds(app: App, types: list[str]) -> frozenset[str] | None:
    known = KINDS | app.projections.keys()
    if unknown := sorted(set(types) - known):
        raise invalid("types", f"there are no messages {unknown[0][:100]!r}; known are: {', '.join(sorted(known))}")
    return frozenset(types) or None


async def _own_job_id(app: App, tenant: str | None, asked: str, *, returning: bool) -> str:
    """The job's id, if the caller may know of it. One who returns is also told that it has been deleted meanwhile."""
    job_id = check_id(asked)

    async def unit(tx: Tx) -> set[str]:
        found = await tx.fetch("tenant_of_deleted", job_id=job_id) if returning else []
        return {job.tenant for job in await tx.jobs("streamed_jobs", ids=[job_id])} | {row["tenant"] for row in found}

    owners = await app.services.store.read(unit)
    if not owners or not (tenant is None or tenant in owners):
        raise no_job(asked)
    return job_id
