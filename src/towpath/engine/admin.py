"""Queues and lanes: pause and resume, caps and weights, and what is going on in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from towpath.core.encoding import decode
from towpath.core.errors import QueueNotFound, SchemaInvalid
from towpath.core.records import Lane, WorkerRow
from towpath.engine.asking.liveness import live_workers
from towpath.engine.registry import check_label, check_name
from towpath.engine.services import Services
from towpath.store import ledger
from towpath.store.also import Also, together
from towpath.store.contract import Row, Tx


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


class Queues:
    """A queue is known when a job was ever in it, an operation of this app uses it, a worker has served it, or somebody has
    set something about it. Settings may also be made for one that is not known yet. `also` is what is to happen in the same
    transaction as a change."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store

    async def list(self) -> Sequence[QueueView]:
        async def unit(tx: Tx) -> Sequence[QueueView]:
            depths = {row["queue"]: row for row in await tx.fetch("depths")}
            settings = {row["name"]: row for row in await tx.fetch("queue_settings")}
            serving = await _serving(tx)
            names = sorted({*depths, *settings, *self._services.registry.queues()})
            return [_view(name, depths.get(name), settings.get(name), serving) for name in names]

        return await self._store.read(unit)

    async def get(self, queue: str) -> QueueView:
        """One queue at a glance; no other is looked at. QueueNotFound if nobody knows it, with the names that are near."""
        check_name("a queue's name", queue)

        async def unit(tx: Tx) -> QueueView:
            depths = await tx.fetch("depth_of", queue=queue)
            settings = await tx.fetch("lock_free_queue", queue=queue)
            if not (depths or settings or queue in self._services.registry.queues()):
                await self._refuse_unknown(tx, queue)
            return _view(queue, depths[0] if depths else None, settings[0] if settings else None, await _serving(tx))

        return await self._store.read(unit)

    async def _refuse_unknown(self, tx: Tx, queue: str) -> None:
        served = {name for row in await tx.fetch("workers") for name in decode(row["queues"])}
        if queue in served:
            return
        used = {row["queue"] for row in await tx.fetch("depths")}
        settings = {row["name"] for row in await tx.fetch("queue_settings")}
        raise QueueNotFound(queue, used | settings | served | set(self._services.registry.queues()))

    async def pause(self, queue: str, *, also: Also[None] | None = None) -> None:
        """Nothing is claimed from it any more; what runs goes on."""
        await self._change(queue, also, paused=True)

    async def resume(self, queue: str, *, also: Also[None] | None = None) -> None:
        await self._change(queue, also, paused=False)

    async def cap(self, queue: str, max_slots: int | None, *, also: Also[None] | None = None) -> None:
        """At most this many of its jobs run at once, over all workers; None lifts the cap."""
        _check_cap("max_slots", max_slots)
        await self._change(queue, also, max_slots=max_slots)

    async def _change(self, name: str, also: Also[None] | None, **changes: object) -> None:
        check_name("a queue's name", name)

        async def unit(tx: Tx) -> None:
            rows = await tx.fetch("lock_queue", queue=name)
            now = {"paused": bool(rows[0]["paused"]), "max_slots": rows[0]["max_slots"]} if rows else {}
            values = {"paused": False, "max_slots": None} | now | changes
            await tx.execute("put_queue", name=name, paused_at=tx.now if values["paused"] else None, **values)
            tx.rings.add(name)

        await self._store.run(together(unit, also))

    async def lane(
        self,
        queue: str,
        lane: str,
        *,
        weight: float = 1.0,
        max_slots: int | None = None,
        max_roots: int | None = None,
        also: Also[None] | None = None,
    ) -> Lane:
        """Sets a lane's share and cap. `max_slots` counts running jobs; `max_roots` counts open root jobs, so that the
        oldest is finished before the next is begun. A new weight applies to new jobs."""
        check_name("a queue's name", queue)
        check_label("lane", lane)
        _check_cap("max_slots", max_slots)
        _check_cap("max_roots", max_roots)
        if max_slots is not None and max_roots is not None:
            raise SchemaInvalid("a lane caps its slots or its open roots, not both", path="max_roots")
        if not (math.isfinite(weight) and weight > 0):
            raise SchemaInvalid(f"must be a number above zero, got {weight!r}", path="weight")
        unit = partial(
            ledger.set_lane, queue=queue, lane=lane, weight=weight, max_slots=max_slots, max_roots=max_roots
        )  # fmt: skip
        await self._store.run(together(unit, also))
        return Lane(queue, lane, weight, max_slots, max_roots)

    async def lanes(self, queue: str) -> Sequence[Lane]:
        rows = await self._store.read(lambda tx: tx.fetch("lanes", queue=queue))
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


def _check_cap(what: str, value: int | None) -> None:
    if value is not None and value < 0:
        raise SchemaInvalid(f"must be zero or more, or None for no cap, got {value!r}", path=what)


async def workers(services: Services) -> list[WorkerRow]:
    def row_of(row: object) -> WorkerRow:
        values = {name: row[name] for name in WorkerRow.__dataclass_fields__}  # type: ignore[index]
        values["queues"], values["operations"] = decode(values["queues"]), decode(values["operations"])
        return WorkerRow(**values)

    return [row_of(row) for row in await services.store.read(lambda tx: tx.fetch("workers"))]
