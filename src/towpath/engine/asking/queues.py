"""What is going on in queues and lanes, at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from towpath.core.encoding import decode
from towpath.core.errors import QueueNotFound
from towpath.core.records import Lane
from towpath.engine.asking.liveness import live_workers
from towpath.engine.registry import check_name
from towpath.engine.services import Services
from towpath.store.contract import Row, Store, Tx


@dataclass(slots=True)
class QueueView:
    """A queue at a glance, from its rollups: no job is counted for it."""

    name: str
    queued: int
    running: int
    waiting: int
    paused: bool
    max_slots: int | None
    workers: int


async def list_queues(services: Services) -> list[QueueView]:
    async def unit(tx: Tx) -> list[QueueView]:
        depths = {row["queue"]: row for row in await tx.fetch("depths")}
        settings = {row["name"]: row for row in await tx.fetch("queue_settings")}
        serving = await _serving(tx)
        names = sorted({*depths, *settings, *services.registry.queues()})
        return [_view(name, depths.get(name), settings.get(name), serving) for name in names]

    return await services.store.read(unit)


async def get_queue(services: Services, queue: str) -> QueueView:
    """One queue at a glance; no other is looked at. QueueNotFound if nobody knows it, with the names that are near."""
    check_name("a queue's name", queue)

    async def unit(tx: Tx) -> QueueView:
        depths = await tx.fetch("depth_of", queue=queue)
        settings = await tx.fetch("lock_free_queue", queue=queue)
        if not (depths or settings or queue in services.registry.queues()):
            await _refuse_unknown(tx, services, queue)
        return _view(queue, depths[0] if depths else None, settings[0] if settings else None, await _serving(tx))

    return await services.store.read(unit)


async def _refuse_unknown(tx: Tx, services: Services, queue: str) -> None:
    served = {name for row in await tx.fetch("workers") for name in decode(row["queues"])}
    if queue in served:
        return
    used = {row["queue"] for row in await tx.fetch("depths")}
    settings = {row["name"] for row in await tx.fetch("queue_settings")}
    raise QueueNotFound(queue, used | settings | served | set(services.registry.queues()))


async def list_lanes(store: Store, queue: str) -> list[Lane]:
    """Those that somebody has set something about."""
    rows = await store.read(lambda tx: tx.fetch("lanes", queue=queue))
    return [Lane(row["queue"], row["lane"], row["weight"], row["max_slots"], row["max_roots"]) for row in rows]


async def _serving(tx: Tx) -> Sequence[Sequence[str]]:
    return [decode(row["queues"]) for row in await live_workers(tx)]


def _view(name: str, depth: Row | None, settings: Row | None, serving: Sequence[Sequence[str]]) -> QueueView:
    return QueueView(
        name,
        queued=max(0, depth["queued"]) if depth else 0,
        running=max(0, depth["running"]) if depth else 0,
        waiting=max(0, depth["waiting"]) if depth else 0,
        paused=bool(settings["paused"]) if settings else False,
        max_slots=settings["max_slots"] if settings else None,
        workers=sum(name in queues for queues in serving),
    )
