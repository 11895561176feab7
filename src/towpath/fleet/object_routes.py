"""Objects in this installation's own storage, for remote workers: by links that open one of them with one method for a
while."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from towpath.fleet import stored
from towpath.fleet.access import TaskPath
from towpath.fleet.names import HERE, output_key
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.secrets import GET, PUT, Link
from towpath.http import bodies, shapes
from towpath.http.policy import Anyone
from towpath.http.problems import Problem, not_found, responses
from towpath.http.ranges import Span, Unsatisfiable, span_of
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/fleet/objects", tags=["fleet"])
_KIND = "application/octet-stream"
bodies.stream("PUT", r"/api/fleet/objects/[^/]+/[0-9]+", _KIND)
_CLOSED = "this link opens nothing; it may have ended, or its task has"
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"content": {_KIND: {"schema": {"type": "string", "format": "binary"}}}, "description": "The whole object."},
    206: {"content": {_KIND: {"schema": {"type": "string", "format": "binary"}}}, "description": "A part of it."},
}
_BODY = {"requestBody": {"required": True, "content": {_KIND: {"schema": {"type": "string", "format": "binary"}}}}}
Attempt = Annotated[int, Path(ge=1, le=10**9, description="Which time that the task was sent.")]


class LinkQuery(shapes.Request):
    token: Annotated[str, Query(max_length=200)]


async def _opened(app: Engine, task_id: str, attempt: int, method: str, token: str) -> tuple[Task, Dispatch]:
    """Who knows no link learns nothing, not even whether there is such a task."""
    dispatch = await stored.attempt(app, task_id.lower(), attempt)
    if dispatch is None or not Link("", dispatch.link_key, dispatch.task_id, attempt).opens(method, token, time.time()):
        raise not_found(_CLOSED)
    found = await stored.tasks(app, [dispatch.task_id])
    if not found or not dispatch.open or dispatch.report is not None:
        raise not_found(_CLOSED)
    return found[0], dispatch


@router.get(
    "/{task_id}/{attempt}", operation_id="get_fleet_object", response_class=StreamingResponse,
    responses=_CONTENT | responses(404, 412),
)  # fmt: skip
async def get_fleet_object(
    _anyone: Anyone, app: Engine, request: Request, task_id: TaskPath, attempt: Attempt, asked: Annotated[LinkQuery, Query()]
) -> Response:
    """The object of a task, whole or from where a worker had come to."""
    task, _ = await _opened(app, task_id, attempt, GET, asked.token)
    there = await app.blobs.head(task.object_key) if task.source == HERE else None
    if there is None:
        raise not_found("the object of this task is gone")
    if request.headers.get("if-match", there.etag).strip('"') != there.etag.strip('"'):
        raise Problem("invalid", 412, "the object has changed since the task was made")
    try:
        span = span_of(request.headers.get("range"), there.size)
    except Unsatisfiable:
        raise Problem(
            "invalid", 416, "nothing of the object lies in this range", headers={"Content-Range": f"bytes */{there.size}"}
        ) from None
    part = span or Span(0, there.size)
    headers = {
        "Accept-Ranges": "bytes", "ETag": f'"{there.etag.strip(chr(34))}"', "Content-Length": str(part.end - part.start),
        "Cache-Control": "private, no-store", "Content-Disposition": "attachment",
    }  # fmt: skip
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{there.size}"
    pieces = app.blobs.open(task.object_key, part.start, part.end)
    return StreamingResponse(pieces, 200 if span is None else 206, media_type=_KIND, headers=headers)


@router.put(
    "/{task_id}/{attempt}", status_code=204, operation_id="put_fleet_object", openapi_extra=_BODY,
    responses=responses(404, 413),
)  # fmt: skip
async def put_fleet_object(
    _anyone: Anyone, app: Engine, request: Request, task_id: TaskPath, attempt: Attempt, asked: Annotated[LinkQuery, Query()]
) -> None:
    """The result of an attempt. It counts when the worker has reported it, and it is what was reported."""
    task, dispatch = await _opened(app, task_id, attempt, PUT, asked.token)
    if task.target != HERE:
        raise not_found(_CLOSED)
    await app.blobs.put(output_key(task.target, task.id, dispatch.attempt), _counted(request, app.settings.max_upload_bytes))


async def _counted(request: Request, most: int) -> AsyncIterator[bytes]:
    taken = 0
    async for piece in request.stream():
        taken += len(piece)
        if most and taken > most:
            raise Problem("too_large", 413, f"the result has more than the {most:,} bytes that a file may have here")
        if piece:
            yield piece
