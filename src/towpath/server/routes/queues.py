"""Queues and lanes: what is going on in them, pause and resume, caps and weights."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Path, Request

from towpath.engine.app import App
from towpath.engine.asking import queue_views
from towpath.engine.asking.queue_views import LaneView, QueueFigures
from towpath.http.audit import audited, note
from towpath.http.policy import Admin, Reader
from towpath.http.problems import responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.counts import at_most_once_a_second, forget
from towpath.server.schemas.queues import Lane, LaneSettings, Queue, QueueDetail, QueueSettings

router = Router(prefix="/api/queues", tags=["queues"])

Named = Annotated[str, Path(description="The queue's name.")]


@router.get("", operation_id="list_queues")
async def list_queues(_principal: Reader, app: Engine) -> list[Queue]:
    """Every queue at a glance, from its rollups; at most a second old."""
    return [_shown(view) for view in await _queues(app)]


@router.post("/{name:path}/pause", operation_id="pause_queue", responses=responses(404))
async def pause_queue(_principal: Admin, app: Engine, request: Request, name: Named) -> Queue:
    """Nothing is claimed from it any more; what runs goes on."""
    await _one(app, name)
    await app.queues.pause(name, also=audited(request, lambda _: note("queue.pause", name)))
    return _shown(await _fresh(app, name))


@router.post("/{name:path}/resume", operation_id="resume_queue", responses=responses(404))
async def resume_queue(_principal: Admin, app: Engine, request: Request, name: Named) -> Queue:
    """Its jobs are claimed again."""
    await _one(app, name)
    await app.queues.resume(name, also=audited(request, lambda _: note("queue.resume", name)))
    return _shown(await _fresh(app, name))


@router.put("/{name:path}/lanes/{lane:path}", operation_id="set_lane", responses=responses(404))
async def set_lane(
    _principal: Admin,
    app: Engine,
    request: Request,
    name: Named,
    lane: Annotated[str, Path(description="The lane's name: a tenant, unless jobs name another.")],
    asked: LaneSettings,
) -> Lane:
    """Sets a lane's weight and cap. A new weight counts for new jobs."""
    await _one(app, name)
    settings = asked.model_dump()
    line = audited(request, lambda _: note("lane.set", f"{name} {lane}", settings=settings))
    await app.queues.lane(name, lane, **settings, also=line)
    forget(app)
    views = await queue_views.lanes(app.services.store, name, also=lane)
    return _lane(next(view for view in views if view.lane == lane))


@router.patch("/{name:path}", operation_id="update_queue", responses=responses(404))
async def update_queue(_principal: Admin, app: Engine, request: Request, name: Named, asked: QueueSettings) -> Queue:
    """Sets or lifts the queue's cap."""
    await _one(app, name)
    line = audited(request, lambda _: note("queue.cap", name, max_slots=asked.max_slots))
    await app.queues.cap(name, asked.max_slots, also=line)
    return _shown(await _fresh(app, name))


@router.get("/{name:path}", operation_id="get_queue", responses=responses(404))
async def get_queue(principal: Reader, app: Engine, name: Named) -> QueueDetail:
    """A queue with its lanes and their fair shares. Lanes have tenants' names: those of others only admins see."""
    view = await _one(app, name)
    own_lane = None if principal.admin else principal.tenant  # is among them, however many others there are
    views = await at_most_once_a_second(
        app, ("lanes", name, own_lane), lambda: queue_views.lanes(app.services.store, name, also=own_lane)
    )
    own = [lane for lane in views if principal.admin or lane.lane == principal.tenant]
    return QueueDetail(**_shown(view).model_dump(), lanes=[_lane(lane) for lane in own])


async def _queues(app: App) -> list[QueueFigures]:
    return await at_most_once_a_second(app, "queues", lambda: queue_views.queues(app.services))


async def _one(app: App, name: str) -> QueueFigures:
    return await at_most_once_a_second(app, ("queue", name), lambda: queue_views.queue(app.services, name))


async def _fresh(app: App, name: str) -> QueueFigures:
    forget(app)
    return await _one(app, name)


def _shown(view: QueueFigures) -> Queue:
    return Queue.model_validate(asdict(view))


def _lane(view: LaneView) -> Lane:
    return Lane.model_validate(asdict(view))
