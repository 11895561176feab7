"""The worker: takes what it has slots for, runs it, and settles it with its next turn.

A slot is free again when its handler has ended; the settle travels on by itself, so claiming and settling overlap with
running. `Slots` knows what is held, `Turns` speaks with the database, `Watch` looks after what runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import platform
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from towpath.core import transitions
from towpath.core.errors import StoreUnavailable
from towpath.core.failpoints import reach
from towpath.core.ids import uuid7
from towpath.core.outcomes import Failure
from towpath.core.records import WorkerRow
from towpath.core.topics import of_worker
from towpath.core.transitions import Transition
from towpath.engine import tracing
from towpath.engine.registry import Operation
from towpath.engine.running.context import Context
from towpath.engine.running.execution import execute
from towpath.engine.running.heartbeat import Heartbeat
from towpath.engine.running.logs import JobLogHandler
from towpath.engine.running.pace import Pace
from towpath.engine.running.runners import Runners
from towpath.engine.running.running_job import RunningJob
from towpath.engine.running.slots import Ahead, Slots
from towpath.engine.running.turns import Turns
from towpath.engine.running.watch import Watch
from towpath.engine.services import Services
from towpath.engine.tending.janitor import Janitor, adopt
from towpath.engine.tending.loops import Loop
from towpath.engine.tending.process import this_process
from towpath.engine.tending.vigil import Vigil
from towpath.store.contract import Claimed
from towpath.transports import Found
from towpath.version import __version__

log = logging.getLogger("towpath.worker")

_HOUR = 3600.0
_A_MOMENT = 1.0  # in which a claim that is on its way comes back, if the database is there
_FAREWELL = 5.0  # for what is only good manners when a worker ends
# All of a small worker's at once, so that they end together and share the next turn.
_AT_ONCE = 64
_LOOKS = 2  # at a job that waits for a slot, before it is handed back; one may come late, on a busy machine
NO_SLOT = "no_slot"
"""Why a job that was claimed ahead is handed back."""


class Worker:
    def __init__(
        self, services: Services, queues: Sequence[str], concurrency: int, *, name: str | None = None, janitor: bool = True
    ) -> None:
        self._services, self._settings = services, services.settings
        lease = self._settings.lease_seconds
        self.id = uuid7()
        self.row = WorkerRow(
            self.id,
            name or f"{platform.node() or 'worker'}-{os.getpid()}",
            sorted(queues),
            services.registry.names(),
            concurrency,
            version=__version__,
            process=this_process(),
        )
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._main: asyncio.Task[Any] | None = None
        self._abandoned = self._winding_down = False
        self._drained_by: float | None = None
        vigil = Vigil(lease)
        self._slots, self._pace = Slots(concurrency), Pace(concurrency)
        self._turns = Turns(services.store, services.group_commit, self.row, lease, self._pace, self._admit)
        self._watch = Watch(services.store, self.id, self._slots, self._turns, self._let_go)
        heart, lost = services.store.heart(), self._watch.lost_in_thread
        self._heartbeat = Heartbeat(heart, self.row, lease, lost, vigil, lambda: len(self._slots.running))
        self._runners = Runners(concurrency)
        self._janitor = Janitor(services, vigil) if janitor else None
        self._poll = Loop("poll", self._poll_again)
        self._loops = [Loop(name, turn) for name, turn in services.loops.items()] if janitor else []
        self._next_look: asyncio.TimerHandle | None = None
        self._log_handler = JobLogHandler()

    async def run(self) -> None:
        """Works until `stop` is called, then lets running jobs finish or hands them back."""
        self._main = asyncio.current_task()
        try:
            await self._start()
            while not self._stopping.is_set():
                self._wake.clear()
                if not await self._take():
                    await self._wake.wait()  # a bell, a slot that is free again, or the next poll
        except asyncio.CancelledError:
            if not self._abandoned:
                raise
        finally:
            await self._wind_down()

    async def run_until_idle(self, on_idle: Callable[[], Awaitable[bool]] | None = None) -> int:
        """Works until nothing is ready, running or due; for tests and scripts. Answers how many entries were run.

        `on_idle` is asked then, and may say that there is more to do now: a test's clock has moved on.
        """
        done = 0
        try:
            await self._start()
            while True:
                self._wake.clear()
                claimed = await self._take()
                done += claimed
                if claimed == 0 and not (self._slots.empty and self._turns.coming == 0):
                    await self._wake.wait()
                elif claimed == 0:
                    found = await self._look_again()
                    done += found
                    if not found and not (on_idle is not None and await on_idle()):
                        return done
        finally:
            await self._wind_down()

    async def _look_again(self) -> int:
        """Nothing was found and nothing runs: a thorough look at what is due by now, and below the cursors."""
        await self._services.group_commit.drain()
        if self._janitor is not None:
            await self._janitor.sweep()
        self._turns.sweep_next()
        return await self._take()

    def stop(self) -> None:
        if not self._stopping.is_set():
            self._stopping.set()
            self._stop_within(self._settings.drain_seconds)
        self._wake.set()

    def _stop_within(self, seconds: float) -> None:
        """A claim that is on its way is waited for, but not for longer than for running jobs: the database may be away."""
        self._drained_by = self._loop.time() + seconds
        self._loop.call_later(max(_A_MOMENT, seconds), self._abandon)

    def _abandon(self) -> None:
        if self._main is not None and not self._winding_down:
            self._abandoned = True
            self._main.cancel()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop_now(self) -> None:
        self.stop()
        self._stop_within(0.0)
        self.hand_back()

    def hand_back(self) -> None:
        """Interrupts what runs, for whoever will not wait: its jobs go back to the queue and lose no attempt."""
        self._slots.close()
        for running_job in list(self._slots.running.values()):
            running_job.interrupt("shutdown")
        self._release(self._slots.withdraw_all())

    @property
    def running(self) -> list[Claimed]:
        """The jobs in its slots."""
        return [running_job.job for running_job in self._slots.running.values()]

    async def _start(self) -> None:
        transport = self._services.transport
        self._silence = transport.listen(self._watch.heard, [of_worker(self.id)])
        self._attendance = transport.attend(self.row.queues, self._heard)
        logging.getLogger().addHandler(self._log_handler)
        self._services.resources.hold()
        self._heartbeat.start()
        for part in (self._watch, self._turns, self._poll):
            part.start()
        if self._janitor is not None:
            self._janitor.start()
        for loop in self._loops:
            loop.start()
        await adopt(self._services)
        await asyncio.to_thread(self._heartbeat.wait_for_first)
        log.info("worker %s started: queues %s, concurrency %d", self.id, ", ".join(self.row.queues), self.row.concurrency)

    def _heard(self, _topic: str) -> None:
        self._wake.set()

    async def _poll_again(self) -> float:
        """For whatever rang unheard: whoever rests looks again now and then."""
        self._wake.set()
        return self._settings.poll_seconds

    async def _take(self) -> int:
        ending_soon = self._slots.ending_soon(self._turns.coming, self._pace)
        room = self._slots.room(self._turns.coming, ending_soon)
        look = self._attendance.look()
        if room > 0:
            taken = await self._turns.take(room)
            look.over(_found(taken, room, self._turns.failed))
            return taken
        look.over(Found.PLENTY)
        if ending_soon:
            self._turns.flush_within(self._pace.turn)  # most likely the next turn leaves before that
        else:
            self._turns.flush()
        return 0

    def _admit(self, jobs: Sequence[Claimed]) -> None:
        """Jobs have arrived. Those that find no slot free wait for one."""
        for job in jobs:
            if job.attempt > 1:
                self._supersede(job)
            self._heartbeat.hold(job.id, job.attempt, self._timeout(job))
            self._slots.admit(job)
        self._watch.tell_again()
        self._fill()
        if not jobs:
            self._wake.set()  # there is room for others
        if self._slots.waiting and self._next_look is None:
            self._next_look = self._loop.call_later(self._pace.patience, self._look_at_waiting)

    def _supersede(self, job: Claimed) -> None:
        """A lease that ran out may come back to the very worker that lost it: its old handler has to go."""
        for job_id, attempt in self._slots.attempts_of(job.id):
            self._watch.lost(job_id, attempt, "lost")

    def _timeout(self, job: Claimed) -> float:
        operation = self._services.registry.get(job.operation)
        return operation.timeout if operation else _HOUR

    def _fill(self) -> None:
        """A few per turn of the event loop, so that neither it nor a store's thread has to wait for all of them."""
        for _ in range(_AT_ONCE):
            ahead = self._slots.next()
            if ahead is None:
                return
            try:
                self._begin(ahead)
            except Exception:  # this job's trouble, not that of the others it was claimed with
                log.exception("job %s could not be begun; its lease will run out", ahead.job.id)
                self._heartbeat.drop(ahead.job.id, ahead.job.attempt)
        self._loop.call_soon(self._fill)

    def _begin(self, ahead: Ahead) -> None:
        job = ahead.job
        operation = self._services.registry.get(job.operation)
        ctx = Context(job, self._services, operation.max_wait if operation else _HOUR)
        running_job = RunningJob(job, ctx, operation.timeout if operation else _HOUR)
        self._slots.running[job.id, job.attempt] = running_job
        running_job.task = self._loop.create_task(self._work(running_job, operation))

    async def _work(self, running_job: RunningJob, operation: Operation | None) -> None:
        running_job.entered, job = True, running_job.job
        try:
            running = execute(job, operation, running_job.ctx, self._runners)
            transition = await (tracing.attempt(job, running) if tracing.active() else running)
        except asyncio.CancelledError:
            transition = transitions.release(job.id, job.attempt)
        except BaseException:
            log.exception("job %s could not be run; its lease will run out", job.id)
            self._leave(running_job)
            self._heartbeat.drop(job.id, job.attempt)
            return
        await reach("worker.ran")
        self._settle(job, transition)
        self._leave(running_job)

    def _leave(self, running_job: RunningJob) -> None:
        self._slots.running.pop((running_job.job.id, running_job.job.attempt), None)
        self._pace.ended(time.monotonic() - running_job.began)
        if self._slots.waiting:
            self._fill()
        self._wake.set()

    def _settle(self, job: Claimed, transition: Transition) -> None:
        self._slots.settling += 1
        self._turns.settle(transition, partial(self._settled, job, transition))

    def _settled(self, job: Claimed, transition: Transition, refused: str | None, error: BaseException | None) -> None:
        self._slots.settling -= 1
        self._heartbeat.drop(job.id, job.attempt)
        self._wake.set()
        if error is not None:
            log.error("job %s could not be settled (%s); its lease will run out: %s", job.id, transition.verb, error)
            self._settle_as_failure(job, transition, error)
        elif refused is not None and transition.verb != "handler_ended":
            log.warning("dropped the late %s of job %s: %s", transition.verb, job.id, refused)
            self._services.group_commit.settle(transitions.handler_ended(job.id, job.attempt), _ignore)
        if self._janitor is not None and (transition.delay or transition.deadline is not None):
            self._janitor.timer_set()

    def _settle_as_failure(self, job: Claimed, transition: Transition, error: BaseException) -> None:
        """A result the database refuses is that job's failure, with the database's own words."""
        if isinstance(error, StoreUnavailable) or transition.verb == "fail":
            return
        failure = Failure(
            "fatal", type(error).__name__, f"its outcome could not be stored: {error}"[:500], "fix the result, then requeue"
        )
        self._services.group_commit.settle(transitions.fail(job.id, job.attempt, failure), _ignore)

    def _look_at_waiting(self) -> None:
        """What was claimed ahead and finds no slot was a misjudgement: others may have one free."""
        late = self._slots.seen_waiting(_LOOKS)
        if late:
            self._pace.misjudged(len(late))
            self._release(late, NO_SLOT)
            self._turns.flush()
        waits = self._slots.waiting > 0
        self._next_look = self._loop.call_later(self._pace.patience, self._look_at_waiting) if waits else None

    def _release(self, waiting: Sequence[Ahead], reason: str | None = None) -> None:
        for ahead in waiting:
            self._settle(ahead.job, transitions.release(ahead.job.id, ahead.job.attempt, reason))

    def _let_go(self, ahead: Ahead) -> None:
        """It was cancelled or lost before it was begun; only its lease is left."""
        self._settle(ahead.job, transitions.handler_ended(ahead.job.id, ahead.job.attempt))
        self._wake.set()

    async def _wind_down(self) -> None:
        self._winding_down = True
        if self._abandoned and self._main is not None:
            self._main.uncancel()
        if self._drained_by is None:
            self._drained_by = self._loop.time() + self._settings.drain_seconds
        await self._rest_from_bells()
        while self._turns.coming or self._slots.can_begin:  # noqa: ASYNC110  (a few turns of the loop at most)
            await asyncio.sleep(0)
        self._release(self._slots.withdraw_all())
        self._turns.finish()
        for loop in self._loops:
            await loop.stop()
        if self._janitor is not None:
            await self._janitor.stop()
        await self._drain(self._drained_by - self._loop.time())
        self.hand_back()
        await self._drain(10.0)
        await asyncio.sleep(0)  # what the last turn has settled is told now
        if not await self._services.group_commit.drain(self._drained_by - self._loop.time()):
            log.error("the database is away: what this worker holds is not written, and its leases will run out")
        for part in (self._watch, self._turns, self._poll):
            await part.stop()
        await asyncio.to_thread(self._heartbeat.stop)
        logging.getLogger().removeHandler(self._log_handler)
        self._runners.close()
        await self._services.resources.let_go()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_FAREWELL):
                await self._services.store.run(lambda tx: tx.execute("stop_worker", id=self.id, now=tx.now))
        log.info("worker %s stopped", self.id)

    async def _rest_from_bells(self) -> None:
        self._silence()
        await self._attendance.stop()

    async def _drain(self, seconds: float) -> None:
        tasks = [running_job.task for running_job in self._slots.running.values() if running_job.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=max(0.0, seconds))


def _found(taken: int, room: int, failed: bool) -> Found:
    if taken >= room:
        return Found.PLENTY
    return Found.UNKNOWN if failed else Found.LITTLE


def _ignore(_refused: str | None, _error: BaseException | None) -> None:
    """For settles whose outcome changes nothing any more: the lease runs out by itself."""
