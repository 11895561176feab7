"""Queues and their lanes as people look at them: depth, rate, shares. No figure counts more than some thousand rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from towpath.core.records import PRIORITIES
from towpath.engine.asking.queues import QueueView, get_queue, list_queues
from towpath.engine.services import Services
from towpath.store.contract import Row, Store, Tx

MOST_LANES = 200
MOST_READY = 1000
_RATE_MINUTES = 10


@dataclass(slots=True)
class QueueFigures:
    name: str
    queued: int
    running: int
    waiting: int
    paused: bool
    max_slots: int | None
    workers: int
    rate_per_minute: float
    oldest_wait_seconds: float | None


@dataclass(slots=True)
class LaneView:
    """`share` is what a lane gets while all lanes that have something to do keep having it."""

    queue: str
    lane: str
    weight: float = 1.0
    max_slots: int | None = None
    max_roots: int | None = None
    ready: int = 0
    running: int = 0
    share: float = 0.0

    @property
    def busy(self) -> bool:
        return self.ready > 0 or self.running > 0


async def queues(services: Services) -> list[QueueFigures]:
    views = await list_queues(services)

    async def unit(tx: Tx) -> list[QueueFigures]:
        rows = await tx.fetch("queue_starts", since=tx.now - timedelta(minutes=_RATE_MINUTES))
        started = {row["queue"]: row["started"] for row in rows}
        return [_figures(view, started.get(view.name, 0), await _oldest(tx, view.name)) for view in views]

    return await services.store.read(unit)


async def queue(services: Services, name: str) -> QueueFigures:
    """One queue; no other is looked at. QueueNotFound if nobody knows it."""
    view = await get_queue(services, name)

    async def unit(tx: Tx) -> QueueFigures:
        [row] = await tx.fetch("queue_starts_of", queue=name, since=tx.now - timedelta(minutes=_RATE_MINUTES))
        return _figures(view, row["started"] or 0, await _oldest(tx, name))

    return await services.store.read(unit)


async def _oldest(tx: Tx, queue: str) -> float | None:
    rows = await tx.fetch("oldest_ready", queue=queue)
    created: datetime | None = rows[0]["created_at"] if rows else None
    return None if created is None else max(0.0, (tx.now - created).total_seconds())


def _figures(view: QueueView, started: int, oldest: float | None) -> QueueFigures:
    return QueueFigures(
        view.name, view.queued, view.running, view.waiting, view.paused, view.max_slots, view.workers,
        round(started / _RATE_MINUTES, 2), None if oldest is None else round(oldest, 3),
    )  # fmt: skip


async def lanes(store: Store, queue: str, also: str | None = None) -> list[LaneView]:
    """Lanes that have settings or something to do, busy ones first; `also` is in the list if it is one of them."""

    async def unit(tx: Tx) -> list[LaneView]:
        found = {row["lane"]: _with_settings(queue, row) for row in await tx.fetch("lanes", queue=queue)}
        for row in await tx.fetch("leased_lanes", queue=queue):
            found.setdefault(row["lane"], LaneView(queue, row["lane"])).running = row["jobs"]
        for priority in PRIORITIES:
            for row in await tx.fetch("ready_lanes", queue=queue, priority=priority, limit=MOST_LANES):
                found.setdefault(row["lane"], LaneView(queue, row["lane"]))
        kept = sorted(found.values(), key=lambda view: (view.lane != also, view.lane))[:MOST_LANES]
        for view in kept:
            view.ready = await _ready(tx, queue, view.lane)
        return _shared(kept)

    return await store.read(unit)


def _with_settings(queue: str, row: Row) -> LaneView:
    return LaneView(queue, row["lane"], row["weight"], row["max_slots"], row["max_roots"])


async def _ready(tx: Tx, queue: str, lane: str) -> int:
    """Exact up to a thousand; more than that tells nobody more."""
    count = 0
    for priority in PRIORITIES:
        rows = await tx.fetch("ready_in_lane", queue=queue, priority=priority, lane=lane, limit=MOST_READY - count)
        count += int(rows[0]["jobs"])
        if count >= MOST_READY:
            break
    return count


def _shared(views: list[LaneView]) -> list[LaneView]:
    weights = sum(view.weight for view in views if view.busy)
    for view in views:
        view.share = round(view.weight / weights, 4) if view.busy else 0.0
    return sorted(views, key=lambda view: (not view.busy, -view.share, view.lane))
