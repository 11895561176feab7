"""`app.queues`: pause and resume, caps and weights, and what is going on in queues and lanes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from towpath.core.errors import SchemaInvalid
from towpath.core.records import Lane
from towpath.engine.asking import queues
from towpath.engine.asking.queues import QueueView
from towpath.engine.registry import check_label, check_name
from towpath.engine.services import Services
from towpath.store import ledger
from towpath.store.also import Also, together
from towpath.store.contract import Tx


class Queues:
    """A queue is known when a job was ever in it, an operation of this app uses it, a worker has served it, or somebody has
    set something about it. Settings may also be made for one that is not known yet. `also` is what is to happen in the same
    transaction as a change."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store

    async def list(self) -> Sequence[QueueView]:
        return await queues.list_queues(self._services)

    async def get(self, queue: str) -> QueueView:
        """One queue at a glance; no other is looked at. QueueNotFound if nobody knows it, with the names that are near."""
        return await queues.get_queue(self._services, queue)

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
        return await queues.list_lanes(self._store, queue)


def _check_cap(what: str, value: int | None) -> None:
    if value is not None and value < 0:
        raise SchemaInvalid(f"must be zero or more, or None for no cap, got {value!r}", path=what)
