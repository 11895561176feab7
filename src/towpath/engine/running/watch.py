"""Looks after what a worker holds: handlers that take too long, and jobs that are no longer its own."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from towpath.core.topics import EVERYWHERE, of_worker
from towpath.engine.running.slots import Ahead, Key, Slots
from towpath.engine.running.turns import Turns
from towpath.engine.tending.loops import Loop
from towpath.store.contract import Store

log = logging.getLogger("towpath.worker")

_EVERY = 0.25
_COST_FACTOR = 20.0


class Watch:
    """`withdrawn` is called with jobs that were lost before they were begun."""

    def __init__(self, store: Store, worker_id: str, slots: Slots, turns: Turns, withdrawn: Callable[[Ahead], None]) -> None:
        self._store, self._worker_id, self._slots, self._turns = store, worker_id, slots, turns
        self._withdrawn = withdrawn
        self._event_loop = asyncio.get_running_loop()
        self._loop = Loop("watch", self._look)
        self._asked = False
        self._look_from = float("-inf")
        self._early: dict[Key, tuple[str, int]] = {}  # news of jobs that the turns up to a number may bring

    def start(self) -> None:
        self._loop.start()

    async def stop(self) -> None:
        await self._loop.stop()

    def heard(self, topic: str) -> None:
        """A job of this worker may have been cancelled. Where every commit of another process rings, looking may take no
        more than a twentieth of the time."""
        if topic in (EVERYWHERE, of_worker(self._worker_id)) and (not self._slots.empty or self._turns.under_way):
            self._asked = True
            if topic != EVERYWHERE:
                self._look_from = float("-inf")
            if time.monotonic() >= self._look_from:
                self._loop.nudge()

    def lost_in_thread(self, job_id: str, attempt: int, state: str) -> None:
        if not self._event_loop.is_closed():
            self._event_loop.call_soon_threadsafe(self.lost, job_id, attempt, state)

    def lost(self, job_id: str, attempt: int, state: str) -> None:
        """An attempt of ours is no longer running, by the row."""
        key = (job_id, attempt)
        if not self._ended(key, state) and self._turns.under_way:
            self._early = {one: news for one, news in self._early.items() if news[1] > self._turns.over}
            self._early[key] = state, self._turns.sent

    def _ended(self, key: Key, state: str) -> bool:
        """Ends it here, if it is here; answers whether it is."""
        job_id, attempt = key
        running_job = self._slots.running.get(key)
        if running_job is not None:
            log.warning("job %s is %s now: interrupting attempt %d", job_id, state, attempt)
            running_job.interrupt("cancelled" if state == "cancelled" else "lost")
            return True
        ahead = self._slots.withdraw(key)
        if ahead is not None:
            log.info("job %s is %s now: attempt %d is not begun", job_id, state, attempt)
            self._withdrawn(ahead)
        return ahead is not None

    def tell_again(self) -> None:
        """Jobs have arrived: perhaps those that there was news of. It is forgotten when the turns are over that were under
        way then: so it was about another job, most likely one that had just ended."""
        early, self._early = self._early, {}
        for key, (state, turn) in early.items():
            if not self._ended(key, state) and turn > self._turns.over:
                self._early[key] = state, turn

    async def _look(self) -> float:
        now = time.monotonic()
        for running_job in list(self._slots.running.values()):
            if running_job.deadline < now:
                running_job.interrupt("timeout")
        if self._asked and now >= self._look_from:
            self._asked = False
            await self._find_cancelled()
            cost = time.monotonic() - now
            self._look_from = now + min(_EVERY, _COST_FACTOR * cost)
        return min(_EVERY, max(0.0, self._look_from - time.monotonic())) if self._asked else _EVERY

    async def _find_cancelled(self) -> None:
        rows = await self._store.read(lambda tx: tx.fetch("leased_by", worker_id=self._worker_id))
        for row in rows:
            if row["state"] != "running":
                self.lost(str(row["id"]), row["attempt"], row["state"])
