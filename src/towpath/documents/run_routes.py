"""Runs: make, list, look, stop, try again, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from towpath import App
from towpath.documents import intake, moving, removing, schemas, stored
from towpath.documents.access import RunPath, own_run, owner_of
from towpath.documents.intake import Given, Wanted
from towpath.documents.records import Run
from towpath.documents.run_views import RunView, run_views
from towpath.documents.shaping import run_shape
from towpath.http import bodies, shapes
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/documents/runs", tags=["documents"])
bodies.large("POST", "/api/documents/runs")


class RunQuery(shapes.Request):
    status: Annotated[list[schemas.AskedRunStatus], Field(default_factory=list, max_length=6)]
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    after: Annotated[schemas.Id | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("", operation_id="list_document_runs")
async def list_document_runs(
    principal: Reader, app: Engine, asked: Annotated[RunQuery, Query()]
) -> shapes.Page[schemas.DocumentRun]:
    """Runs, newest first. With a filter a page may be short, even empty, and still have a `next`."""
    tenant = tenant_of(principal, asked.tenant)

    async def look(before: str | None, count: int) -> list[RunView]:
        return await run_views(app, await stored.runs_page(app, tenant, before=before, limit=count))

    return await shapes.page_of_fitting(
        look, lambda view: not asked.status or view.status in asked.status, run_shape, lambda view: view.run.id,
        after=asked.after, limit=asked.limit,
    )  # fmt: skip


@router.post("", status_code=202, operation_id="create_document_run", responses=responses(404))
async def create_document_run(principal: Writer, app: Engine, request: Request, asked: schemas.NewRun) -> schemas.MadeRun:
    """Reads documents: uploaded files, addresses, folders of buckets, or documents that are there already, once more."""
    items = [Given(**one.model_dump()) for one in asked.items]
    wanted = Wanted(asked.kind, items, asked.settings.model_dump(exclude_none=True), asked.priority, asked.title)
    run_id, job_id = await intake.create(app, wanted, owner_of(principal))
    audit(request, "documents.run", run_id, kind=asked.kind, items=len(items))
    return schemas.MadeRun(id=run_id, job_id=job_id, status="PENDING")


@router.get("/{run_id}", operation_id="get_document_run", responses=responses(404))
async def get_document_run(principal: Reader, app: Engine, run_id: RunPath) -> schemas.DocumentRun:
    """One run: how many of its items stand where, what they took, and when it will be done."""
    return await _shape(app, await own_run(app, principal, run_id))


async def _shape(app: App, run: Run) -> schemas.DocumentRun:
    [view] = await run_views(app, [run])
    return run_shape(view)


@router.get("/{run_id}/causes", operation_id="list_document_run_causes", responses=responses(404, 409))
async def list_document_run_causes(principal: Reader, app: Engine, run_id: RunPath) -> schemas.Causes:
    """Why items failed, each cause once, the most frequent first. `cause` goes into a retry."""
    run = await own_run(app, principal, run_id)
    try:
        found = await moving.causes(app, run)
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    return schemas.Causes(causes=[
        schemas.Cause(cause=one.cause, items=one.items, category=one.error.get("kind", "fatal"),
                      message=one.error.get("message", ""), remedy=one.error.get("remedy")) for one in found
    ])  # fmt: skip


@router.post("/{run_id}/cancel", operation_id="cancel_document_run", responses=responses(404))
async def cancel_document_run(principal: Writer, app: Engine, request: Request, run_id: RunPath) -> schemas.CancelledRun:
    """Stops it; the list is empty if nothing is being done. Documents that were read stay."""
    run = await own_run(app, principal, run_id)
    stopped = await moving.cancel(app, run, principal.name)
    if stopped:
        audit(request, "documents.cancel", run.id, tenant=run.tenant, jobs=len(stopped))
    return schemas.CancelledRun(cancelled=stopped)


@router.post("/{run_id}/retry", status_code=202, operation_id="retry_document_run", responses=responses(404, 409))
async def retry_document_run(
    principal: Writer, app: Engine, request: Request, run_id: RunPath, asked: schemas.RetryItems
) -> schemas.RetriedItems:
    """Tries failed and cancelled items again, each from the step that failed: all of them, some, or those of one cause."""
    run = await own_run(app, principal, run_id)
    settings = asked.settings.model_dump(exclude_none=True) if asked.settings else None
    try:
        done = await moving.retry(app, run, items=asked.items, cause=asked.cause, settings=settings)
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    audit(request, "documents.retry", run.id, tenant=run.tenant, items=done.retried)
    return schemas.RetriedItems(retried=done.retried, refused=done.refused)


@router.put("/{run_id}/budget", operation_id="limit_document_run", responses=responses(404))
async def limit_document_run(
    principal: Writer, app: Engine, request: Request, run_id: RunPath, asked: schemas.RunBudget
) -> schemas.DocumentRun:
    """What the run may spend from now on. What waits for money goes on if there is enough of it now."""
    run = await own_run(app, principal, run_id)
    await moving.limit(app, run, asked.budget_cents)
    audit(request, "documents.budget", run.id, tenant=run.tenant, cents=asked.budget_cents)
    return await _shape(app, await own_run(app, principal, run_id))


@router.delete("/{run_id}", operation_id="delete_document_run", responses=responses(404))
async def delete_document_run(principal: Writer, app: Engine, request: Request, run_id: RunPath) -> schemas.DeletedDocuments:
    """Stops it if need be, and deletes it with its items and jobs. The documents that it has read stay."""
    run = await own_run(app, principal, run_id)
    deleted = await removing.remove_run(app, run)
    audit(request, "documents.delete_run", run.id, tenant=run.tenant)
    return schemas.DeletedDocuments(deleted=deleted)
