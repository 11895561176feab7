"""The worker: claims what it has slots for, runs it, settles it.

A slot is free again when its handler has ended; the settle travels on by itself, so claiming and settling overlap. How
much may be on its way is bounded.
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
from towpath.core.ids import uuid7
from towpath.core.outcomes import Failure
from towpath.core.points import reach
from towpath.core.records import WorkerRow
from towpath.core.transitions import Transition
from towpath.engine import tracing
from towpath.engine.claims import QueueClaims
from towpath.engine.context import Context
from towpath.engine.entry import Entry
from towpath.engine.execution import execute
from towpath.engine.grips import Grip, Spent
from towpath.engine.heartbeat import Heartbeat
from towpath.engine.identity import this_process
from towpath.engine.janitor import Janitor, adopt
from towpath.engine.logs import JobLogHandler
from towpath.engine.loops import Loop
from towpath.engine.runners import Runners
from towpath.engine.scribe import Done
from towpath.engine.services import Services
from towpath.engine.vigil import Vigil
from towpath.store.contract import OPEN, Claim, Claimed, Taken
from towpath.version import __version__

log = logging.getLogger("towpath.worker")

_WATCH_EVERY = 0.25
_HOUR = 3600.0
_FORGET_EVERY = 1.0
_A_MOMENT = 1.0  # in which a claim that is on its way comes back, if the database is there
_FAREWELL = 5.0  # for what is only good manners when a worker ends
SPLIT_FROM = 64
# All of a small worker's at once, so that they end together and share the next turn.
_AT_ONCE = SPLIT_FROM


class Worker:
    def __init__(
        self, services: Services, queues: Sequence[str], concurrency: int, *, name: str | None = None, janitor: bool = True
    ) -> None:
        self._services = services
        self._concurrency = concurrency
        self._settings = services.settings
        self.id = uuid7()
        self._claims = [QueueClaims(services.store, queue) for queue in queues]
        self._queues = frozenset(queues)
        self._entries: dict[tuple[str, int], Entry] = {}  # by job and attempt: a lost attempt may still be ending
        self._settling = 0
        # With many slots half of them at a time: one half is claimed and settled while the other half runs.
        self._batch = concurrency if concurrency < SPLIT_FROM else concurrency // 2
        self._taking_along = True  # the next claim takes along what has been left to settle
        self._handing_back = False
        self._beginning = 0  # claimed, and begun as soon as the next turn is on its way
        self._lost_early: list[tuple[str, int, str]] = []  # news of jobs that have perhaps not begun yet
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._main: asyncio.Task[Any] | None = None
        self._abandoned = self._winding_down = False
        self._drained_by: float | None = None
        self._runners = Runners(concurrency)
        row = WorkerRow(
            self.id,
            name or f"{platform.node() or 'worker'}-{os.getpid()}",
            sorted(queues),
            services.registry.names(),
            concurrency,
            version=__version__,
            process=this_process(),
        )
        self.row = row
        self._loop = asyncio.get_running_loop()
        lease = self._settings.lease_seconds
        vigil = Vigil(lease)
        self._heartbeat = Heartbeat(services.store.heart(), row, lease, self._lost_in_thread, vigil)
        self._janitor = Janitor(services, vigil) if janitor else None
        self._watch = Loop("watch", self._watch_entries)
        self._floors = Loop("floors", self._write_floors)
        self._floors_rest = True
        self._spent = Spent(services.store)
        self._leases = Loop("leases", self._forget_leases)
        self._poll = Loop("poll", self._poll_again)
        self._log_handler = JobLogHandler()

    async def run(self) -> None:
        """Works until `stop` is called, then lets running jobs finish or hands them back."""
        self._main = asyncio.current_task()
        try:
            await self._start()
            while not self._stopping.is_set():
                self._wake.clear()
                if not await self._claim_some():
                    await self._wake.wait()  # a bell, a slot that is free again, or the next poll
        except asyncio.CancelledError:
            if not self._abandoned:
                raise
        finally:
            await self._wind_down()

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

    async def run_until_idle(self, on_idle: Callable[[], Awaitable[bool]] | None = None) -> int:
        """Works until nothing is ready, running or due; for tests and scripts. Answers how many entries were run.

        `on_idle` is asked then, and may say that there is more to do now: a test's clock has moved on.
        """
        done = 0
        try:
            await self._start()
            while True:
                self._wake.clear()
                claimed = await self._claim_some()
                done += claimed
                if claimed == 0 and (self._entries or self._beginning or self._settling):
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
        await self._services.scribe.drain()
        if self._janitor is not None:
            await self._janitor.sweep()
        for claims in self._claims:
            claims.sweep_next()
        return await self._claim_some()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def hand_back(self) -> None:
        """Interrupts what runs, for whoever will not wait: its jobs go back to the queue and lose no attempt."""
        self._handing_back = True  # what has been claimed and not begun yet, too
        for entry in list(self._entries.values()):
            entry.interrupt("shutdown")

    def stop_now(self) -> None:
        self.stop()
        self._stop_within(0.0)
        self.hand_back()

    @property
    def running(self) -> list[Claimed]:
        """The jobs in its slots."""
        return [entry.job for entry in self._entries.values()]

    async def _start(self) -> None:
        self._silence = self._services.transport.listen(self._heard)
        logging.getLogger().addHandler(self._log_handler)
        self._services.resources.hold()
        self._heartbeat.start()
        self._watch.start()
        self._floors.start()
        self._leases.start()
        self._poll.start()
        if self._janitor is not None:
            self._janitor.start()
        await adopt(self._services)
        await asyncio.to_thread(self._heartbeat.wait_for_first)
        log.info("worker %s started: queues %s, concurrency %d", self.id, ", ".join(self.row.queues), self._concurrency)

    def _heard(self, topic: str) -> None:
        if topic == "*" or topic in self._queues:
            self._wake.set()
        if topic in ("*", f"worker:{self.id}") and (self._entries or self._beginning):
            self._watch.nudge()
            self._look_for_cancels = True

    _look_for_cancels = False

    async def _claim_some(self) -> int:
        busy = len(self._entries) + self._beginning
        room = min(self._concurrency - busy, 2 * self._concurrency - busy - self._settling, self._batch)
        if room <= 0:
            self._services.scribe.write()
        total = 0
        for claims in list(self._claims):
            if room <= 0:
                break
            claim = claims.ask(room, self.id, self._settings.lease_seconds)
            try:
                taken = await self._turn(claims, claim)
            except Exception as error:
                log.warning("claiming from %s failed and will be tried again: %s", claims.queue, error)
                await asyncio.sleep(0.2)
                continue
            await reach("worker.claimed")
            if taken:
                self._beginning += len(taken)
                self._loop.call_soon(self._take_up, taken, claims, claim)
            room -= len(taken)
            total += len(taken)
            if taken and len(self._claims) > 1:  # the queues take turns: next time the one after this comes first
                turn = self._claims.index(claims) + 1
                self._claims = self._claims[turn:] + self._claims[:turn]
        return total

    async def _turn(self, claims: QueueClaims, claim: Claim) -> Taken:
        """Claims, and takes along what waits to be settled. Whoever wants to know of that is told a little later."""
        scribe = self._services.scribe
        settles = scribe.hand_over()
        try:
            asked = [transition for transition, _ in settles]
            verdicts, taken = await claims.turn(asked, claim)
        except BaseException:
            scribe.take_back(settles)  # it tries them one by one if it has to
            raise
        if OPEN in verdicts:
            scribe.set_apart([settle for settle, verdict in zip(settles, verdicts, strict=True) if verdict is OPEN])
        if settles:
            self._loop.call_soon(_tell, settles, verdicts)
        return taken

    async def _poll_again(self) -> float:
        """For whatever rang unheard: whoever rests looks again now and then."""
        self._wake.set()
        return self._settings.poll_seconds

    def _take_up(self, taken: Taken, claims: QueueClaims, claim: Claim) -> None:
        """By now the next turn is on its way, if there is room for one: the database works while we do."""
        try:
            jobs = taken.jobs
        except Exception:  # whatever it is, it must cost neither slots nor the stop
            log.exception("what was claimed from %s cannot be read; its leases will run out", claims.queue)
            self._beginning -= len(taken)
            self._wake.set()
            return
        claims.note(jobs)
        if self._floors_rest and claims.behind:
            self._floors_rest = False
            self._floors.nudge()
        self._begin_all(jobs, Grip(claim.lease_id, len(jobs)))

    def _begin_all(self, jobs: list[Claimed], grip: Grip) -> None:
        """A few per turn of the event loop, so that neither it nor a store's thread has to wait for all of them."""
        now, later = jobs[:_AT_ONCE], jobs[_AT_ONCE:]
        self._beginning -= len(now)
        for job in now:
            try:
                self._begin(job, grip)
            except Exception:  # this job's trouble, not that of the others it was claimed with
                log.exception("job %s could not be begun; its lease will run out", job.id)
        if later:
            self._loop.call_soon(self._begin_all, later, grip)
        lost, self._lost_early = self._lost_early, []
        for news in lost:
            self._lost(*news)

    def _begin(self, job: Claimed, grip: Grip) -> None:
        operation = self._services.registry.get(job.operation)
        timeout = operation.timeout if operation else _HOUR
        ctx = Context(job, self._services, operation.max_wait if operation else _HOUR)
        entry = Entry(job, ctx, time.monotonic() + timeout, grip)
        if job.attempt > 1:
            self._supersede(job)
        self._entries[job.id, job.attempt] = entry
        self._heartbeat.hold(job.id, job.attempt, timeout)
        entry.task = self._loop.create_task(self._work(entry, operation))
        if self._handing_back:
            entry.interrupt("shutdown")

    def _supersede(self, job: Claimed) -> None:
        """A lease that ran out may come back to the very worker that lost it: its old handler has to go."""
        for entry in self._entries.values():
            if entry.job.id == job.id:
                entry.interrupt("lost")

    async def _work(self, entry: Entry, operation: Any) -> None:
        entry.entered, job = True, entry.job
        try:
            running = execute(job, operation, entry.ctx, self._runners)
            transition = await (tracing.attempt(job, running) if tracing.active() else running)
        except asyncio.CancelledError:
            transition = transitions.release(job.id, job.attempt)
        except BaseException:
            log.exception("job %s could not be run; its lease will run out", job.id)
            self._leave(entry)
            self._heartbeat.drop(job.id, job.attempt)
            return
        await reach("worker.ran")
        self._leave(entry)
        self._settling += 1
        done = partial(self._settled, entry, transition)
        if self._taking_along:
            self._services.scribe.leave(transition, done)
        else:
            self._services.scribe.settle(transition, done)

    def _leave(self, entry: Entry) -> None:
        self._entries.pop((entry.job.id, entry.job.attempt), None)
        self._wake.set()

    def _settled(self, entry: Entry, transition: Transition, refused: str | None, error: BaseException | None) -> None:
        self._settling -= 1
        self._heartbeat.drop(entry.job.id, entry.job.attempt)
        self._wake.set()
        if error is not None:
            log.error("job %s could not be settled (%s); its lease will run out: %s", entry.job.id, transition.verb, error)
            self._settle_as_failure(entry, transition, error)
        elif refused is not None and transition.verb != "handler_ended":
            log.warning("dropped the late %s of job %s: %s", transition.verb, entry.job.id, refused)
            self._services.scribe.settle(transitions.handler_ended(entry.job.id, entry.job.attempt), _ignore)
        elif refused is None:
            self._spent.settled(entry.grip, transition)
        if self._janitor is not None and (transition.delay or transition.deadline is not None):
            self._janitor.timer_set()

    def _settle_as_failure(self, entry: Entry, transition: Transition, error: BaseException) -> None:
        """A result the database refuses is that job's failure, with the database's own words."""
        if isinstance(error, StoreUnavailable) or transition.verb == "fail":
            return
        failure = Failure(
            "fatal", type(error).__name__, f"its outcome could not be stored: {error}"[:500], "fix the result, then requeue"
        )
        failed = transitions.fail(entry.job.id, entry.job.attempt, failure)
        self._services.scribe.settle(failed, _ignore)

    def _lost_in_thread(self, job_id: str, attempt: int, state: str) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lost, job_id, attempt, state)

    def _lost(self, job_id: str, attempt: int, state: str) -> None:
        entry = self._entries.get((job_id, attempt))
        if entry is None and self._beginning:
            self._lost_early.append((job_id, attempt, state))
        elif entry is not None:
            log.warning("job %s is %s now: interrupting attempt %d", job_id, state, attempt)
            entry.interrupt("cancelled" if state == "cancelled" else "lost")

    async def _watch_entries(self) -> float:
        now = time.monotonic()
        for entry in list(self._entries.values()):
            if entry.deadline < now:
                entry.interrupt("timeout")
        if self._look_for_cancels and self._entries:
            self._look_for_cancels = False
            await self._find_cancelled()
        return _WATCH_EVERY

    async def _find_cancelled(self) -> None:
        rows = await self._services.store.read(lambda tx: tx.fetch("leased_by", worker_id=self.id))
        for row in rows:
            if row["state"] != "running":
                self._lost(str(row["id"]), row["attempt"], row["state"])

    async def _write_floors(self) -> float:
        for claims in self._claims:
            await claims.advance()
        self._floors_rest = not any(claims.behind for claims in self._claims)
        return 60.0 if self._floors_rest else 0.1

    async def _forget_leases(self) -> float:
        await self._spent.forget()
        return _FORGET_EVERY

    async def _wind_down(self) -> None:
        self._winding_down = True
        if self._abandoned and self._main is not None:
            self._main.uncancel()
        if self._drained_by is None:
            self._drained_by = self._loop.time() + self._settings.drain_seconds
        self._silence()
        while self._beginning:  # noqa: ASYNC110  (a few turns of the loop at most)
            await asyncio.sleep(0)
        self._taking_along = False
        self._services.scribe.write()
        if self._janitor is not None:
            await self._janitor.stop()
        await self._drain(self._drained_by - self._loop.time())
        self.hand_back()
        await self._drain(10.0)
        await asyncio.sleep(0)  # what the last turn has settled is told now
        if not await self._services.scribe.drain(self._drained_by - self._loop.time()):
            log.error("the database is away: what this worker holds is not written, and its leases will run out")
        await self._watch.stop()
        await self._floors.stop()
        await self._leases.stop()
        await self._poll.stop()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_FAREWELL):
                await self._forget_leases()
        await asyncio.to_thread(self._heartbeat.stop)
        logging.getLogger().removeHandler(self._log_handler)
        self._runners.close()
        await self._services.resources.let_go()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_FAREWELL):
                await self._services.store.run(lambda tx: tx.execute("stop_worker", id=self.id, now=tx.now))
        log.info("worker %s stopped", self.id)

    async def _drain(self, seconds: float) -> None:
        tasks = [entry.task for entry in self._entries.values() if entry.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=max(0.0, seconds))


def _tell(settles: Sequence[tuple[Transition, Done]], verdicts: Sequence[str | None]) -> None:
    for (_, done), verdict in zip(settles, verdicts, strict=True):
        if verdict is not OPEN:
            done(verdict, None)


def _ignore(_refused: str | None, _error: BaseException | None) -> None:
    """For settles whose outcome changes nothing any more: the lease runs out by itself."""
