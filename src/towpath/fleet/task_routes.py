"""Tasks of the fleet: make, list, look, fetch the result, stop, try again, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from towpath.assets.naming import disposition
from towpath.fleet import intake, moving, schemas, stored
from towpath.fleet.access import TaskPath, own_task, owner_of, worker_names
from towpath.fleet.intake import Wanted
from towpath.fleet.shaping import detail_shape, task_shape
from towpath.fleet.storage import storage_of
from towpath.fleet.views import TaskView, views
from towpath.http import shapes
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import conflict, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/fleet/tasks", tags=["fleet"])
_RESULT: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "description": "The result as its worker has stored it, as an attachment.",
    }
}
_MOST_NOTES = 1000


class TaskQuery(shapes.Request):
    status: Annotated[list[schemas.AskedStatus], Field(default_factory=list, max_length=6)]
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    after: Annotated[schemas.Id | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("", operation_id="list_fleet_tasks")
async def list_fleet_tasks(
    principal: Reader, app: Engine, asked: Annotated[TaskQuery, Query()]
) -> shapes.Page[schemas.FleetTask]:
    """Tasks, newest first. With a filter a page may be short, even empty, and still have a `next`."""
    tenant = tenant_of(principal, asked.tenant)

    async def look(before: str | None, count: int) -> list[TaskView]:
        return await views(app, await stored.page(app, tenant, before=before, limit=count))

    found = await shapes.page_of_fitting(
        look, lambda view: not asked.status or view.status in asked.status, lambda view: view, lambda view: view.task.id,
        after=asked.after, limit=asked.limit,
    )  # fmt: skip
    names = await worker_names(app, {view.last.worker_id for view in found.items if view.last})
    items = [task_shape(view, names, urls=principal.admin) for view in found.items]
    return shapes.Page[schemas.FleetTask](items=items, next=found.next)


@router.post("", status_code=202, operation_id="create_fleet_task", responses=responses(404))
async def create_fleet_task(
    principal: Writer, app: Engine, request: Request, asked: schemas.NewFleetTask
) -> schemas.MadeFleetTask:
    """Has a remote worker do something with an uploaded file. Workers ask for it over HTTPS."""
    wanted = Wanted(asked.operation, asked.settings, asked.max_attempts, asked.priority)
    task_id, job_id = await intake.create(app, wanted, asked.asset_id, owner_of(principal))
    audit(request, "fleet.create", task_id, operation=asked.operation)
    return schemas.MadeFleetTask(id=task_id, job_id=job_id, status="PENDING")


@router.get("/{task_id}", operation_id="get_fleet_task", responses=responses(404))
async def get_fleet_task(principal: Reader, app: Engine, task_id: TaskPath) -> schemas.FleetTaskDetail:
    """One task with every time that it was sent, and what its workers have written."""
    task = await own_task(app, principal, task_id)
    [view] = await views(app, [task])
    attempts = await stored.attempts(app, task.id)
    notes = await app.query("fleet_notes_of", task_id=task.id, limit=_MOST_NOTES)
    names = await worker_names(app, {one.worker_id for one in attempts})
    return detail_shape(view, attempts, notes, names, urls=principal.admin)


@router.get(
    "/{task_id}/result",
    operation_id="get_fleet_task_result",
    response_class=StreamingResponse,
    responses=_RESULT | responses(404),
)
async def get_fleet_task_result(principal: Reader, app: Engine, task_id: TaskPath) -> StreamingResponse:
    """What came of it; a transcription is JSON with `text` and timed `segments`."""
    task = await own_task(app, principal, task_id)
    storage = storage_of(app, task.target)
    if task.result_bytes is None or await storage.head(task.result_key) is None:
        raise not_found("this task has no result yet; GET /api/fleet/tasks/{id} tells how far it is")
    is_text = task.operation == "transcribe_file"
    name = f"{task.name or task.id}.{'json' if is_text else 'out'}"
    headers = {"Content-Disposition": disposition("attachment", name), "Content-Length": str(task.result_bytes)}
    kind = "application/json" if is_text else "application/octet-stream"
    return StreamingResponse(storage.open(task.result_key), media_type=kind, headers=headers)


@router.post("/{task_id}/cancel", operation_id="cancel_fleet_task", responses=responses(404))
async def cancel_fleet_task(
    principal: Writer, app: Engine, request: Request, task_id: TaskPath
) -> schemas.CancelledFleetTask:
    """Stops it; its worker hears of that with its next heartbeat. The list is empty if nothing is being done with it."""
    task = await own_task(app, principal, task_id)
    stopped = await moving.cancel(app, task, principal.name)
    if stopped:
        audit(request, "fleet.cancel", task.id, tenant=task.tenant)
    return schemas.CancelledFleetTask(cancelled=stopped)


@router.post("/{task_id}/retry", status_code=202, operation_id="retry_fleet_task", responses=responses(404, 409))
async def retry_fleet_task(principal: Writer, app: Engine, request: Request, task_id: TaskPath) -> schemas.MadeFleetTask:
    """Gives a task that has failed or was cancelled a fresh start."""
    task = await own_task(app, principal, task_id)
    try:
        job_id = await moving.retry(app, task)
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    audit(request, "fleet.retry", task.id, tenant=task.tenant)
    return schemas.MadeFleetTask(id=task.id, job_id=job_id, status="PENDING")


@router.delete("/{task_id}", operation_id="delete_fleet_task", responses=responses(404))
async def delete_fleet_task(principal: Writer, app: Engine, request: Request, task_id: TaskPath) -> schemas.DeletedFleetTask:
    """Stops it if need be, and deletes it with its jobs and its result, unless that lies in a bucket."""
    task = await own_task(app, principal, task_id)
    deleted = await moving.remove(app, task)
    audit(request, "fleet.delete", task.id, tenant=task.tenant)
    return schemas.DeletedFleetTask(deleted=deleted)
