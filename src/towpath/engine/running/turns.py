"""A worker's turns at the database. A turn takes along what has ended and brings what comes next, in one commit.

What ends while a turn is on its way waits for the next one, which leaves as soon as there is room for a job. If there is
none, the worker says `flush`. Nobody is kept waiting for news: jobs that were claimed are read, and whoever wants to know
what became of a settle is told, after the next turn has been sent, so that the database works while we do.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from towpath.core.failpoints import reach
from towpath.core.records import WorkerRow
from towpath.core.transitions import Transition
from towpath.engine.group_commit import Done, GroupCommit, Settle
from towpath.engine.running.claims import QueueClaims
from towpath.engine.running.pace import Pace
from towpath.engine.tending.loops import Loop
from towpath.store.contract import UNDECIDED, Claim, Claimed, ClaimedBatch, Store

log = logging.getLogger("towpath.worker")

Arrived = Callable[[list[Claimed]], None]

_WRITE_FLOORS_EVERY = 0.1
_REST = 60.0
_AFTER_A_FAILURE = 0.2


class Turns:
    """Owns what is pending, the cursors of its queues, and the verdicts. Jobs that were claimed are handed to `arrived`."""

    def __init__(
        self, store: Store, group_commit: GroupCommit, worker: WorkerRow, lease_seconds: float, pace: Pace, arrived: Arrived
    ) -> None:
        self._group_commit, self._pace, self._arrived = group_commit, pace, arrived
        self._worker_id, self._lease_seconds = worker.id, lease_seconds
        self._claims = [QueueClaims(store, queue) for queue in worker.queues]
        self._loop = asyncio.get_running_loop()
        self._pending: list[Settle] = []
        self._flushing: asyncio.TimerHandle | None = None
        self._last = False
        self._asking = False
        self.failed = False
        """Whether the last round could not ask all queues."""
        self.sent = 0
        """How many turns there have been so far."""
        self._unread = 0
        self.coming = 0
        """Jobs that are claimed and have not arrived yet."""
        self._floors = Loop("floors", self._write_floors)
        self._floors_rest = True

    def start(self) -> None:
        self._floors.start()

    async def stop(self) -> None:
        await self._floors.stop()

    @property
    def under_way(self) -> bool:
        """Whether jobs may have been claimed that have not arrived."""
        return self._asking or self.coming > 0

    @property
    def over(self) -> int:
        """How many turns have brought what they will ever bring."""
        return self.sent - self._unread - self._asking

    def settle(self, transition: Transition, done: Done) -> None:
        """With the next turn, or at once if there is none. Calls `done(refused, error)`, see `GroupCommit.settle`."""
        self._pending.append((transition, done))
        if self._last:
            self.flush()

    def flush(self) -> None:
        """What is pending is written without a claim."""
        self._no_longer_flushing()
        if self._pending:
            settles, self._pending = self._pending, []
            self._group_commit.settle_all(settles)

    def flush_within(self, seconds: float) -> None:
        """`flush`, unless it has gone with a turn by then."""
        if self._pending and self._flushing is None:
            self._flushing = self._loop.call_later(seconds, self.flush)

    def _no_longer_flushing(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None

    def finish(self) -> None:
        """There will be no further turn."""
        self._last = True
        self.flush()

    def sweep_next(self) -> None:
        """The next turn looks below the cursors, too."""
        for claims in self._claims:
            claims.sweep_next()

    async def take(self, room: int) -> int:
        """One round of the queues. Answers how many jobs were claimed; they arrive a little later."""
        total, self.failed = 0, False
        for claims in list(self._claims):
            if total >= room:
                break
            claim = claims.ask(room - total, self._worker_id, self._lease_seconds)
            try:
                batch = await self._turn(claims, claim)
            except Exception as error:
                log.warning("claiming from %s failed and will be tried again: %s", claims.queue, error)
                self.failed = True
                await asyncio.sleep(_AFTER_A_FAILURE)
                continue
            await reach("worker.claimed")
            if batch:
                self.coming += len(batch)
                self._unread += 1
                self._loop.call_soon(self._read, batch, claims)
                self._go_on_after(claims)
            total += len(batch)
        return total

    async def _turn(self, claims: QueueClaims, claim: Claim) -> ClaimedBatch:
        settles = self._carry()
        asked, self._asking = time.monotonic(), True
        self.sent += 1
        try:
            verdicts, batch = await claims.turn([transition for transition, _ in settles], claim)
        except BaseException:
            self._group_commit.settle_all(settles)  # it tries them one by one if it has to
            raise
        finally:
            self._asking = False
        if batch:
            self._pace.turned(time.monotonic() - asked)
        if settles:
            self._loop.call_soon(self._tell, settles, verdicts)
        return batch

    def _carry(self) -> list[Settle]:
        """What goes along with a claim. Nothing while notes are on their way: a job's notes come before its end."""
        self._no_longer_flushing()
        if self._group_commit.noting:
            self.flush()
        settles, self._pending = self._pending, []
        return settles

    def _tell(self, settles: Sequence[Settle], verdicts: Sequence[str | None]) -> None:
        """What the turn could not decide is decided without one."""
        undecided = []
        for settle, verdict in zip(settles, verdicts, strict=True):
            if verdict is UNDECIDED:
                undecided.append(settle)
            else:
                settle[1](verdict, None)
        self._group_commit.settle_all(undecided)

    def _read(self, batch: ClaimedBatch, claims: QueueClaims) -> None:
        self.coming -= len(batch)
        self._unread -= 1
        try:
            jobs = batch.jobs
        except Exception:  # whatever it is, it must cost neither slots nor the stop
            log.exception("what was claimed from %s cannot be read; its leases will run out", claims.queue)
            self._arrived([])
            return
        claims.note(jobs)
        if self._floors_rest and claims.behind:
            self._floors_rest = False
            self._floors.nudge()
        self._arrived(jobs)

    def _go_on_after(self, claims: QueueClaims) -> None:
        """The queues take turns: next time the one after this comes first."""
        if len(self._claims) > 1:
            place = self._claims.index(claims) + 1
            self._claims = self._claims[place:] + self._claims[:place]

    async def _write_floors(self) -> float:
        for claims in self._claims:
            await claims.advance()
        self._floors_rest = not any(claims.behind for claims in self._claims)
        return _REST if self._floors_rest else _WRITE_FLOORS_EVERY
