"""Where a worker looks for its next jobs: one cursor per queue and band.

A claim starts at the floor as *written* one turn ago, so dead index entries before it cost nothing, and whatever was
stamped against that floor or the next lies behind the cursor and is found at once, even if it was stamped just before
the floor was raised and committed just after. Jobs that committed later still, below the cursor, are found by full
sweeps. Those go by time alone: at least a second apart, and at least a hundred times what the last one cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from towpath.core.records import PRIORITIES
from towpath.core.transitions import Transition
from towpath.store.contract import Claimed, Store

_WRITE_EVERY = 0.1
_SWEEP_EVERY = 1.0
_SWEEP_COST_FACTOR = 100.0


class QueueClaims:
    def __init__(self, store: Store, queue: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self.queue, self._clock = store, queue, clock
        self._cursors: dict[int, float] = dict.fromkeys(PRIORITIES, float("-inf"))
        self._floors = dict(self._cursors)
        self._highest: dict[int, float] = {}
        self._written_at = float("-inf")
        self._swept_at, self._sweep_cost = float("-inf"), 0.0

    async def claim(self, limit: int, worker_id: str, lease_seconds: float) -> list[Claimed]:
        return (await self.turn([], limit, worker_id, lease_seconds))[1]

    async def turn(
        self, settles: Sequence[Transition], limit: int, worker_id: str, lease_seconds: float
    ) -> tuple[list[str | None], list[Claimed]]:
        """Settles and claims, in one commit where that can be."""
        sweep = self._sweep_is_due()
        cursors = dict.fromkeys(PRIORITIES, float("-inf")) if sweep else self._cursors
        started = self._clock()
        if settles:
            verdicts, jobs = await self._store.turn(settles, self.queue, cursors, limit, worker_id, lease_seconds)
        else:
            verdicts, jobs = [], await self._store.claim(self.queue, cursors, limit, worker_id, lease_seconds)
        if sweep:
            self._swept_at, self._sweep_cost = self._clock(), self._clock() - started
        for job in jobs:
            self._highest[job.priority] = max(self._highest.get(job.priority, 0.0), job.pass_)
        return verdicts, jobs

    def sweep_next(self) -> None:
        """Makes the next claim a full sweep, for whoever has to know that nothing is left."""
        self._swept_at = float("-inf")

    def _sweep_is_due(self) -> bool:
        return self._clock() - self._swept_at >= max(_SWEEP_EVERY, _SWEEP_COST_FACTOR * self._sweep_cost)

    @property
    def behind(self) -> bool:
        """Whether claims have passed the floor that is on record."""
        return any(value > self._floors[band] for band, value in self._highest.items())

    async def advance(self) -> None:
        """Writes the floor, at most ten times a second."""
        if not self.behind or self._clock() - self._written_at < _WRITE_EVERY:
            return
        self._written_at = self._clock()
        floors = await self._store.advance(self.queue, self._highest)
        self._cursors = dict(self._floors)
        self._floors |= {band: floor for band, floor in floors.items() if band in self._floors}
