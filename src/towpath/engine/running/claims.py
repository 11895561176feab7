"""Where a worker looks for its next jobs: one cursor per queue and band.

A claim starts at the floor as *written* one turn ago, so dead index entries before it cost nothing, and whatever was
stamped against that floor or the next lies behind the cursor and is found at once, even if it was stamped just before
the floor was raised and committed just after. Jobs that committed later still, below the cursor, are found by full
sweeps. Those go by time alone: at least a second apart, and at least a hundred times what the last one cost.

With ten thousand lanes ten thousand jobs have the same pass. So on a plateau like that a cursor also knows the id up to
which the jobs of its pass were claimed. New jobs are stamped strictly above the floor and lie behind it in any case; work
that was begun and comes back to the very same pass is found by a sweep, or when nothing else is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from towpath.core.transitions import Transition
from towpath.store.contract import EVERYWHERE, Claim, Claimed, ClaimedBatch, Store

_WRITE_EVERY = 0.1
_SWEEP_EVERY = 1.0
_SWEEP_COST_FACTOR = 100.0
_NOWHERE = (0.0, "")
_PLATEAU = 300


class QueueClaims:
    def __init__(self, store: Store, queue: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self.queue, self._clock = store, queue, clock
        self._cursors: dict[int, float] = dict(EVERYWHERE)
        self._floors = dict(self._cursors)
        self._highest: dict[int, tuple[float, str]] = {}  # pass and id of the last job in order
        self._noted: dict[int, tuple[float, str]] = {}
        self._plateau: dict[int, int] = {}  # how many jobs of the same pass were claimed in a row, roughly
        self._after: dict[int, str] = {}
        self._next_after: dict[int, str] = {}
        self._written_at = float("-inf")
        self._swept_at, self._sweep_cost = float("-inf"), 0.0

    async def claim(self, limit: int, worker_id: str, lease_seconds: float) -> list[Claimed]:
        _, batch = await self.turn([], self.ask(limit, worker_id, lease_seconds))
        self.note(batch.jobs)
        return batch.jobs

    def ask(self, limit: int, worker_id: str, lease_seconds: float) -> Claim:
        """From the cursors on, or everywhere if a sweep is due."""
        if self._sweep_is_due():
            return Claim(self.queue, limit, worker_id, lease_seconds)
        return Claim(self.queue, limit, worker_id, lease_seconds, self._cursors, self._after)

    async def turn(self, settles: Sequence[Transition], claim: Claim) -> tuple[list[str | None], ClaimedBatch]:
        """Settles and claims, in one commit where that can be. What was claimed is to be noted, sooner or later."""
        sweep, started = claim.cursors is EVERYWHERE, self._clock()
        if settles:
            verdicts, batch = await self._store.turn(settles, claim)
        else:
            verdicts, batch = [], await self._store.claim(claim)
        if claim.after and not batch:
            # Nothing is left after the id up to which the jobs of this pass were claimed. Work that was begun may have come
            # back to the same pass since, before that id: the same claim once more, without the id.
            self._after, self._next_after, self._plateau = {}, {}, {}
            claim.after = {}
            batch = await self._store.claim(claim)
        if sweep:
            self._swept_at, self._sweep_cost = self._clock(), self._clock() - started
        return verdicts, batch

    def note(self, jobs: Sequence[Claimed]) -> None:
        """How far claims have come."""
        for band, last in {job.priority: job for job in jobs}.items():  # they are in order
            before = self._highest.get(band, _NOWHERE)
            self._highest[band] = max(before, (last.pass_, last.id))
            self._plateau[band] = self._plateau.get(band, 0) + len(jobs) if last.pass_ == before[0] else 0

    def sweep_next(self) -> None:
        """Makes the next claim a full sweep, for whoever has to know that nothing is left."""
        self._swept_at = float("-inf")

    def _sweep_is_due(self) -> bool:
        return self._clock() - self._swept_at >= max(_SWEEP_EVERY, _SWEEP_COST_FACTOR * self._sweep_cost)

    @property
    def behind(self) -> bool:
        """Whether claims have come further than the cursors know."""
        return any(place > self._noted.get(band, _NOWHERE) for band, place in self._highest.items())

    async def advance(self) -> None:
        """Moves the cursors up to where claims were one turn ago, and writes the floor; at most ten times a second."""
        if not self.behind or self._clock() - self._written_at < _WRITE_EVERY:
            return
        self._written_at = self._clock()
        reached, floors = dict(self._highest), {}
        passes = {band: pass_ for band, (pass_, _) in reached.items()}
        if any(pass_ > self._floors[band] for band, pass_ in passes.items()):
            floors = await self._store.advance(self.queue, passes)
        self._cursors, self._after = dict(self._floors), self._next_after
        self._floors |= {band: floor for band, floor in floors.items() if band in self._floors}
        # Others may have come further: then nothing is known about the jobs of that very pass.
        self._next_after = {
            band: last
            for band, (pass_, last) in reached.items()
            if self._floors[band] == pass_ and self._plateau.get(band, 0) >= _PLATEAU
        }
        self._noted = reached
