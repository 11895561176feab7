"""A job as whoever holds it may change it: everything that the engine asks of a Context, and an operation does not."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from towpath.core.errors import LeaseLost
from towpath.core.outcomes import Suspend
from towpath.core.reactions import ExceptionMap
from towpath.core.records import NewJob, Step
from towpath.engine.running import waits
from towpath.engine.running.steps import Memory
from towpath.engine.tracing import current_trace
from towpath.store import journal
from towpath.store.journal import Note

if TYPE_CHECKING:
    from towpath.engine.budgets import Budgets
    from towpath.engine.services import Services
    from towpath.engine.values import Values
    from towpath.store.contract import Claimed, Tx

_PROGRESS_EVERY = 1.0
_NEVER_YET = float("-inf")


class FencedJob:
    """What is known and written of a job for as long as one entry of it holds its lease, and why the entry has to stop.

    The number of the lease is the fence: what is written with it counts for nothing once the job is somebody else's.
    """

    __slots__ = (
        "_job", "_memory", "_number", "_progress", "_progress_at", "_progress_timer", "_services", "_total",
        "follow_ups", "heard", "heavy", "interrupted", "logged", "lost", "max_wait", "spawned", "suspended",
    )  # fmt: skip

    def __init__(self, job: Claimed, services: Services, max_wait: float) -> None:
        self._job = job
        self._services = services
        self._memory: Memory | None = None
        self._number = 0
        self._progress: tuple[float | None, float | None] | None = None
        self._total: float | None = None
        self._progress_at = _NEVER_YET
        self._progress_timer: asyncio.TimerHandle | None = None
        self.max_wait = max_wait
        self.follow_ups: list[NewJob] = []
        self.heavy = False  # whether the payload of one of them is too large for its row
        self.suspended: Suspend | None = None
        self.interrupted: str | None = None
        self.heard = False  # whether the operation knows that it should stop: what it returns then is not its result
        self.lost = False
        self.logged = 0
        self.spawned = False

    @property
    def id(self) -> str:
        return self._job.id

    @property
    def fence(self) -> int:
        """The number of this lease. It never repeats for a job, so it is good for naming temporary things."""
        return self._job.attempt

    @property
    def claimed(self) -> Claimed:
        return self._job

    @property
    def services(self) -> Services:
        return self._services

    @property
    def values(self) -> Values:
        return self._services.values

    @property
    def budgets(self) -> Budgets:
        return self._services.budgets

    @property
    def exceptions(self) -> ExceptionMap:
        return self._services.registry.exceptions

    def inherit(self, options: dict[str, Any]) -> dict[str, Any]:
        """What a job made by this one takes over unless told otherwise."""
        job = self._job
        return {
            "tenant": job.tenant,
            "lane": job.lane,
            "priority": job.priority,
            "trace": current_trace() or job.trace,
            "subject": job.subject,
        } | options

    def check(self) -> None:
        if self.suspended is not None:
            raise self.suspended
        if self.lost:
            raise LeaseLost(f"attempt {self.fence} of job {self.id} is no longer the running one")

    async def write(self, note: Note) -> None:
        self.check()
        if not await self._services.group_commit.note(note):
            self.lost = True
            self.check()

    def jot(self, **note: Any) -> None:
        """A note nobody waits for: it is written before whatever this job writes next."""
        if not self.lost:
            self._keep(self._services.group_commit.note(Note(self.id, self.fence, **note)))

    def _keep(self, answer: asyncio.Future[Any]) -> None:
        answer.add_done_callback(self._jot_done)

    def _jot_done(self, answer: asyncio.Future[Any]) -> None:
        if not answer.cancelled() and answer.exception() is None and not answer.result():
            self.lost = True

    def suspend(self, reason: str, *, wakes_seen: int, deadline: Any = None) -> Suspend:
        """Remembered, so that it wins even if the operation swallows it."""
        self.suspended = Suspend(reason, wakes_seen=wakes_seen, deadline=deadline)
        return self.suspended

    async def memory(self) -> Memory:
        if self._memory is None:
            found = await self._services.store.read(self._load_steps) if self._job.steps else []
            if self._memory is None:  # another task of this entry may have been first
                self._memory = Memory(found)
        return self._memory

    async def _load_steps(self, tx: Tx) -> list[Step]:
        return await journal.load_steps(tx, self.id)

    def next_number(self) -> int:
        self._number += 1
        return self._number

    async def report(self, current: float, total: float | None, message: str | None) -> None:
        """See `Context.progress`."""
        self._total = total if total is not None else self._total
        waits.check_progress(current, self._total)
        self._progress = (current, self._total)
        if message is not None or time.monotonic() - self._progress_at >= _PROGRESS_EVERY:
            await self.flush_progress(message)
        elif self._progress_timer is None:
            self._progress_timer = asyncio.get_running_loop().call_later(_PROGRESS_EVERY, self.leave_progress)

    def _take_progress(self, message: str | None) -> Note | None:
        if self._progress_timer is not None:
            self._progress_timer.cancel()
            self._progress_timer = None
        if self._progress is None:
            return None
        progress, self._progress = self._progress, None
        self._progress_at = time.monotonic()
        return Note(self.id, self.fence, name="job.progress", message=message, progress=progress)

    def leave_progress(self) -> None:
        """Nobody waits for it: its time has come, or the entry is over, and then it is written before the job is settled."""
        if self._progress is None and self._progress_timer is None:
            return  # as in most jobs
        note = self._take_progress(None)
        if note is not None and not self.lost:
            self._keep(self._services.group_commit.note(note))

    async def flush_progress(self, message: str | None = None) -> None:
        note = self._take_progress(message)
        if note is not None:
            await self.write(note)

    async def place_follow_ups(self) -> None:
        """Large payloads become blobs before the transaction that makes their jobs; if it fails, they are swept."""
        for job in self.follow_ups if self.heavy else ():
            if not self.values.small(job.payload_json):
                await self._services.place_payload(job)

    @property
    def uneventful(self) -> bool:
        """Whether nothing but its end is left to tell of this entry."""
        told = self._progress is None and self.suspended is None and self.interrupted is None
        return told and not self.spawned and not self.heavy
