"""What keeps every job moving although nobody is in charge. Any number of janitors may run: each step is guarded.

- rescue: leases that ran out; - due: scheduled jobs whose time has come; - expire: waits past their deadline;
- gate: capped lanes with room; and, less often, schedules, rollups, retention, and blobs that belong to nothing.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from towpath.core import transitions
from towpath.core.errors import StoreUnavailable
from towpath.core.failpoints import reach
from towpath.core.ids import FIRST_ID
from towpath.engine import schedules
from towpath.engine.changing import idempotency
from towpath.engine.services import Services
from towpath.engine.tending import folding, retention, rollups, sweeping
from towpath.engine.tending.loops import Loop
from towpath.engine.tending.occupancy import Sampler
from towpath.engine.tending.reconciler import Reconciler, wake_forsaken
from towpath.engine.tending.rescuing import Rescuer, rescue
from towpath.engine.tending.settling import one_by_one_if_needed
from towpath.engine.tending.vigil import Vigil
from towpath.store import ledger
from towpath.store.contract import Row, Tx

log = logging.getLogger("towpath.janitor")

_PAGE = 200
_LONG_AGO: Any = datetime(1970, 1, 1, tzinfo=UTC)


class Janitor:
    def __init__(self, services: Services, vigil: Vigil | None = None) -> None:
        self._services = services
        self._store = services.store
        self._sampler = Sampler(services.store)
        self._reconciler = Reconciler(services)
        self._timers = Loop("due", self._due)
        self._loops = [
            self._timers,
            Loop("rescue", Rescuer(services, vigil).turn, first=0.05),
            Loop("gate", self._every(1.0, self._gate), first=0.1),
            Loop("schedules", self._schedules, first=0.15),
            Loop("rollups", self._every(1.0, self._rollups)),
            Loop("adopt", self._every(5.0, self._adopt), first=5.0),  # a worker has done it when it starts
            Loop("retention", self._every(60.0, self._retention), first=3.0),
            Loop("blobs", self._every(600.0, self._sweep_blobs), first=120.0),
            Loop("providers", self._reconciler.turn, first=0.2),
            Loop("forsaken", self._every(60.0, self._wake_forsaken), first=10.0),
            Loop("folding", self._every(300.0, self._fold), first=4.0),
        ]

    def timer_set(self) -> None:
        """A job will fall due: perhaps sooner than the one waited for."""
        self._timers.nudge()

    def start(self) -> None:
        for loop in self._loops:
            loop.start()

    async def stop(self) -> None:
        for loop in self._loops:
            await loop.stop()

    async def sweep(self) -> int:
        """One round of everything that can make a job ready; answers how many jobs it moved."""
        moved = await promote_due(self._services) + await rescue(self._services) + await expire(self._services)
        moved += await schedules.fire_due(self._services)
        if self._services.providers.names:
            moved += await self._reconciler.poll_due()
        return moved + await gate_all(self._services)

    def _every(self, seconds: float, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[float]]:
        async def turn() -> float:
            await work()
            return seconds

        return turn

    async def _due(self) -> float:
        await promote_due(self._services)
        await expire(self._services)
        return await self._until_next()

    async def _until_next(self) -> float:
        """A retry after 200 ms is picked up after 200 ms, not after the next second."""

        async def unit(tx: Tx) -> float:
            moment = await ledger.due_next(tx)
            return 1.0 if moment is None else (moment - tx.now).total_seconds()

        wait = await self._store.read(unit)
        # What has been due for a while is held by somebody, or cannot be changed: asking all the time helps neither.
        return 1.0 if wait < -0.5 else min(1.0, max(0.005, wait))

    async def _gate(self) -> None:
        await gate_all(self._services)

    async def _schedules(self) -> float:
        await schedules.fire_due(self._services)
        return await schedules.seconds_until_next(self._services)

    async def _adopt(self) -> None:
        await adopt(self._services)

    async def _wake_forsaken(self) -> None:
        await wake_forsaken(self._services)

    async def _rollups(self) -> None:
        await rollups.roll_up(self._store)
        await self._sampler.sample()

    async def _fold(self) -> None:
        await folding.fold(self._store)

    async def _sweep_blobs(self) -> None:
        await sweeping.sweep(self._services)

    async def _retention(self) -> None:
        await retention.prune(self._services)
        await idempotency.forget(self._store)
        await self._store.run(lambda tx: tx.execute("forget_workers", before=tx.now - timedelta(days=1)))


async def adopt(services: Services) -> int:
    """Takes back jobs that were set aside by a worker that did not know their operation, if somebody here does."""
    names = services.registry.names()
    if not names or not await services.store.read(lambda tx: tx.fetch("any_no_handler", operations=names)):
        return 0
    return await services.store.run(lambda tx: ledger.adopt(tx, names))


async def promote_due(services: Services) -> int:
    total = 0
    while True:
        try:
            moved = await services.store.run(lambda tx: ledger.promote_due(tx, _PAGE))
        except StoreUnavailable:
            raise
        except Exception as error:
            log.error("due jobs could not be made ready together, each is tried alone: %s", error)
            return total + await _promote_one_by_one(services)
        total += moved
        if moved < _PAGE:
            return total


async def _promote_one_by_one(services: Services) -> int:
    total = 0
    async for row in _pages(services, "due_ids"):
        try:
            total += await services.store.run(partial(ledger.promote_one, job_id=str(row["id"])))
        except Exception as error:
            log.error("job %s is due and could not be made ready: %s", row["id"], error)
    return total


async def _pages(services: Services, query: str) -> AsyncIterator[Row]:
    """The rows of a keyset query, each once, however many of them stay as they are."""
    mark, after = _LONG_AGO, FIRST_ID
    while True:
        rows = await services.store.read(partial(_page, query=query, mark=mark, after=after))
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return
        mark, after = rows[-1]["mark"], str(rows[-1]["id"])


async def _page(tx: Tx, query: str, mark: Any, after: str) -> Sequence[Row]:
    return await tx.fetch(query, now=tx.now, mark=mark, after=after, limit=_PAGE)


async def expire(services: Services) -> int:
    mark, after, total = _LONG_AGO, FIRST_ID, 0
    while True:
        rows = await services.store.read(partial(_page, query="expired_waits", mark=mark, after=after))
        if rows:
            await reach("expire.selected")
        total += await one_by_one_if_needed(services, [transitions.expire(str(row["id"]), row["attempt"]) for row in rows])
        if len(rows) < _PAGE:
            return total
        mark, after = rows[-1]["mark"], str(rows[-1]["id"])


async def gate_all(services: Services) -> int:
    lanes = await services.store.read(lambda tx: tx.fetch("lanes_to_tend", since=tx.now - ledger.NEW_CAP))
    moved = 0
    for row in lanes:
        try:
            moved += await services.store.run(_gate_of(row["queue"], row["lane"]))
        except StoreUnavailable:
            raise
        except Exception as error:
            log.error("the gate of lane %s of queue %s failed, the others go on: %s", row["lane"], row["queue"], error)
    return moved


def _gate_of(queue: str, lane: str) -> Callable[[Tx], Awaitable[int]]:
    return lambda tx: ledger.tend(tx, queue, lane)
