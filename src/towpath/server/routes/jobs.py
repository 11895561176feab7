"""Looking at jobs: lists, one with everything about it, its events, its children, its values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from towpath.engine.asking import listing, reading
from towpath.engine.asking.history_pages import events_page
from towpath.engine.asking.listing import Wanted
from towpath.http.policy import Reader, tenant_of
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.counts import counts_for
from towpath.server.routes.sharing import JobIdPath, own_job, wanted_by
from towpath.server.schemas.base import Page, Request, any_case
from towpath.server.schemas.bulk import JobFilter, JobId, States
from towpath.server.schemas.details import JobDetail, JobWorker, explanation_of, step_of
from towpath.server.schemas.events import AskedLevel, Event, event_of
from towpath.server.schemas.jobs import Counts, Job, job_fields, job_of
from towpath.server.values import download, inlined

router = Router(prefix="/api/jobs", tags=["jobs"])

_Order = Literal["newest"]
_Limit = Annotated[int, Field(ge=1, le=200)]


class JobQuery(JobFilter):
    limit: _Limit = 50
    order: Annotated[_Order, any_case(_Order)] = "newest"


class ChildQuery(Request):
    state: Annotated[States, Field(default_factory=list)]
    after: JobId | None = None
    limit: _Limit = 50


class EventQuery(Request):
    after: Annotated[int, Field(ge=0, le=2**31 - 1, description="Only events with a higher seq.")] = 0
    level: Annotated[AskedLevel | None, Field(description="Only events of this level and above.")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


class TenantQuery(Request):
    tenant: Annotated[str | None, Field(min_length=1, max_length=500, description="For admins: of one tenant.")] = None


@router.get("", operation_id="list_jobs")
async def list_jobs(principal: Reader, app: Engine, asked: Annotated[JobQuery, Query()]) -> Page[Job]:
    """Jobs that match all of the filters, newest first.

    Work per request is bounded: a page may be short, even empty, and still have a `next`.
    """
    wanted = wanted_by(asked, principal)
    found = await listing.search(app.services.store, wanted, after=asked.after, limit=asked.limit)
    return Page[Job](items=[job_of(row) for row in found.jobs], next=found.next)


@router.get("/counts", operation_id="count_jobs")
async def count_jobs(principal: Reader, app: Engine, asked: Annotated[TenantQuery, Query()]) -> Counts:
    """How many jobs there are in each state; at most a second old."""
    return await counts_for(app, tenant_of(principal, asked.tenant))


@router.get("/{id}", operation_id="get_job", responses=responses(404))
async def get_job(principal: Reader, app: Engine, id: JobIdPath) -> JobDetail:
    """One job with its steps, its values, and why it is where it is."""
    row = await own_job(app, principal, id)
    steps = await app.steps(row.id)
    payload, payload_cut = await inlined(app.services.values, row.payload_json)
    result, result_cut = await inlined(app.services.values, row.result_json)
    used, cost = await reading.usage(app.services.store, row.id)
    more: dict[str, Any] = {
        "payload": payload,
        "result": result,
        "payload_truncated": payload_cut,
        "result_truncated": result_cut,
        "explanation": explanation_of(await app.explain(row.id)),
        "steps": [step_of(step) for step in steps],
        "cost_cents": cost.cents,
        "unpriced": cost.unpriced,
        "tokens_in": sum(one.tokens_in for one in used) or None,
        "tokens_out": sum(one.tokens_out for one in used) or None,
        "trace": row.trace,
        "worker": await _worker(app, row.worker_id),
    }
    return JobDetail.model_construct(**job_fields(row), **more)


async def _worker(app: Engine, worker_id: str | None) -> JobWorker | None:
    if worker_id is None:
        return None
    rows = await app.services.store.read(lambda tx: tx.fetch("worker_by_id", id=worker_id))
    return JobWorker(id=worker_id, name=rows[0]["name"] if rows else worker_id)


@router.get("/{id}/events", operation_id="list_job_events", responses=responses(404))
async def list_job_events(
    principal: Reader, app: Engine, id: JobIdPath, asked: Annotated[EventQuery, Query()]
) -> Page[Event]:
    """The job's history in order. `next` is the seq to go on after."""
    row = await own_job(app, principal, id)
    events, following = await events_page(
        app.services.store, row.id, after=asked.after, last=row.seq, level=asked.level, limit=asked.limit
    )
    return Page[Event](items=[event_of(event) for event in events], next=None if following is None else str(following))


@router.get("/{id}/children", operation_id="list_job_children", responses=responses(404))
async def list_job_children(
    principal: Reader, app: Engine, id: JobIdPath, asked: Annotated[ChildQuery, Query()]
) -> Page[Job]:
    """The job's children, newest first."""
    row = await own_job(app, principal, id)
    wanted = Wanted(states=asked.state, tenant=row.tenant, parent=row.id)
    found = await listing.search(app.services.store, wanted, after=asked.after, limit=asked.limit)
    return Page[Job](items=[job_of(child) for child in found.jobs], next=found.next)


_DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/json": {"schema": {}}}, "description": "The value, as an attachment."}
}


@router.get(
    "/{id}/payload", operation_id="download_job_payload", response_class=StreamingResponse,
    responses=_DOWNLOAD | responses(404),
)  # fmt: skip
async def download_job_payload(principal: Reader, app: Engine, id: JobIdPath) -> StreamingResponse:
    """The whole payload as a file, however large."""
    row = await own_job(app, principal, id)
    return await download(app.services.blobs, row.payload_json, f"payload-{row.id}.json")


@router.get(
    "/{id}/result", operation_id="download_job_result", response_class=StreamingResponse,
    responses=_DOWNLOAD | responses(404),
)  # fmt: skip
async def download_job_result(principal: Reader, app: Engine, id: JobIdPath) -> StreamingResponse:
    """The whole result as a file, however large; 404 while there is none."""
    row = await own_job(app, principal, id)
    if row.result_json is None:
        raise not_found(f"job {row.id} has no result; it is {row.state.value}")
    return await download(app.services.blobs, row.result_json, f"result-{row.id}.json")
