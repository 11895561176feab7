"""Moving jobs: cancel, retry, signal, priority, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, Request

from towpath.engine.changing import cancelling, deleting
from towpath.http import bodies
from towpath.http.audit import audit
from towpath.http.policy import Writer
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.payloads import check_edit
from towpath.server.routes.making import check_standing
from towpath.server.routes.sharing import JobIdPath, no_job, own_job
from towpath.server.schemas.jobs import Cancelled, Deleted, Job, Priority, Retry, Signal, job_of

router = Router(prefix="/api/jobs", tags=["jobs"])
bodies.large("POST", "/api/jobs/[^/]+/(retry|signal)")


@router.post("/{id}/cancel", operation_id="cancel_job", responses=responses(404))
async def cancel_job(principal: Writer, app: Engine, request: Request, id: JobIdPath) -> Cancelled:
    """Cancels the job and its children, wherever they are. One that has ended stays as it is, and the list is empty."""
    row = await own_job(app, principal, id)
    done = await cancelling.cancel(app.services.store, [row.id], f"cancelled by {principal.name}")
    if row.id not in done.was:
        raise no_job(id)
    if done.ids:
        audit(request, "job.cancel", row.id, tenant=row.tenant, jobs=len(done.ids))
    return Cancelled.model_construct(cancelled=done.ids, was=done.was[row.id])


@router.post("/{id}/retry", operation_id="retry_job", responses=responses(404, 409))
async def retry_job(
    principal: Writer, app: Engine, request: Request, id: JobIdPath, asked: Annotated[Retry | None, Body()] = None
) -> Job:
    """Gives an ended job a fresh start; 409 if it has succeeded, or has not ended. Payloads of operations that are not
    public can be changed by administrators only."""
    row, asked = await own_job(app, principal, id), asked or Retry()
    if asked.payload is not None:
        await check_edit(app, principal, row, asked.payload)
    fresh = await app.requeue(row.id, payload=asked.payload, keep_steps=asked.keep_steps)
    audit(request, "job.retry", row.id, tenant=row.tenant, edited=asked.payload is not None)
    return job_of(fresh)


@router.post("/{id}/signal", operation_id="signal_job", responses=responses(404, 409))
async def signal_job(principal: Writer, app: Engine, request: Request, id: JobIdPath, asked: Signal) -> Job:
    """Sends a signal to a job that waits for it now or later; 409 if the job has ended."""
    row = await own_job(app, principal, id)
    await app.signal(row.id, asked.name, asked.payload)
    audit(request, "job.signal", row.id, tenant=row.tenant, signal=asked.name)
    return job_of(await app.get(row.id))


@router.patch("/{id}", operation_id="update_job", responses=responses(404, 409))
async def update_job(principal: Writer, app: Engine, request: Request, id: JobIdPath, asked: Priority) -> Job:
    """Changes a queued job's priority; it gets a place among the jobs of that priority. 409 once it has begun."""
    row = await own_job(app, principal, id)
    check_standing(principal, asked.priority)
    changed = await app.reprioritize(row.id, asked.priority)
    audit(request, "job.update", row.id, tenant=row.tenant, priority=asked.priority)
    return job_of(changed)


@router.delete("/{id}", operation_id="delete_job", responses=responses(404, 409))
async def delete_job(principal: Writer, app: Engine, request: Request, id: JobIdPath) -> Deleted:
    """Removes the job with its children and history, for good. One that has not ended is cancelled first.

    A handler that runs gets five seconds to end. If it needs longer the answer is 409: the job stays cancelled, and can
    be deleted when the handler has ended. A child goes with its whole tree only.
    """
    row = await own_job(app, principal, id)
    removed = await deleting.remove(app.services, [row.id])
    if why := removed.refused.get(row.id):
        raise no_job(id) if why == "not found" else conflict(f"job {row.id} was not deleted: {why}")
    audit(request, "job.delete", row.id, tenant=row.tenant, jobs=removed.jobs)
    return Deleted(deleted=removed.jobs)
