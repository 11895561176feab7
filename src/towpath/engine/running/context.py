"""What an operation is handed: its job, and everything it may do while it runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from towpath.core.errors import LeaseLost, WaitRefused
from towpath.core.outcomes import Suspend
from towpath.core.reactions import ExceptionMap
from towpath.core.records import NewJob, Step, Subject
from towpath.core.usage import call
from towpath.engine import transaction, units
from towpath.engine.running import spending, submitting, waits
from towpath.engine.running.current import busy_with, current_meter
from towpath.engine.running.steps import Memory, run_step
from towpath.engine.tracing import current_trace
from towpath.engine.values import blob_prefix
from towpath.store import journal
from towpath.store.journal import Note

if TYPE_CHECKING:
    from towpath.blobs import BlobStore
    from towpath.config import Settings
    from towpath.core.provider_jobs import ProviderJob
    from towpath.engine.budgets import Budgets
    from towpath.engine.resources import Resources
    from towpath.engine.running.children import Children
    from towpath.engine.services import Services
    from towpath.engine.transaction import Fence, ReadUnit, Transaction, Unit
    from towpath.engine.values import Values
    from towpath.providers import Order, Result
    from towpath.store.contract import Claimed, Row, Tx

T = TypeVar("T")

_PROGRESS_EVERY = 1.0


class Context:
    """One entry of one job: a run of its operation from the top. There are several if the job waits or is retried.

    Everything written through it is fenced: once the job has been cancelled, rescued or requeued, the next write raises
    LeaseLost and nothing of it counts.
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
        self._progress_at = float("-inf")
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
    def operation(self) -> str:
        return self._job.operation

    @property
    def queue(self) -> str:
        return self._job.queue

    @property
    def tenant(self) -> str:
        return self._job.tenant

    @property
    def priority(self) -> int:
        return self._job.priority

    @property
    def settings(self) -> Settings:
        return self._services.settings

    @property
    def subject(self) -> Subject | None:
        """Kind and id of what the job works on, if it was enqueued with a subject. Jobs that this one makes inherit it."""
        return self._job.subject

    @property
    def parent_id(self) -> str | None:
        return self._job.parent_id

    @property
    def attempt(self) -> int:
        """Which try this is, from 1; a requeue starts again at 1."""
        return self._job.failures + 1

    @property
    def fence(self) -> int:
        """The number of this lease. It never repeats for a job, so it is good for naming temporary things."""
        return self._job.attempt

    @property
    def trace(self) -> str | None:
        """The W3C `traceparent` the job was enqueued with."""
        return self._job.trace

    @property
    def cancelled(self) -> bool:
        """Whether to stop: the job was cancelled, its lease was lost, it ran too long, or the worker is going down."""
        stop = self.interrupted is not None or self.lost
        self.heard = self.heard or stop
        return stop

    @property
    def uneventful(self) -> bool:
        """Whether nothing but its end is left to tell of this entry."""
        told = self._progress is None and self.suspended is None and self.interrupted is None
        return told and not self.spawned and not self.heavy

    @property
    def resources(self) -> Resources:
        return self._services.resources

    @property
    def blobs(self) -> BlobStore:
        return self._services.blobs

    def blob_key(self, name: str = "") -> str:
        """A key of the blob store below the job's own: what is put there goes when the job is deleted, if not before."""
        return f"{blob_prefix(self.id)}/{name}" if name else blob_prefix(self.id)

    @property
    def budgets(self) -> Budgets:
        return self._services.budgets

    @property
    def values(self) -> Values:
        return self._services.values

    @property
    def exceptions(self) -> ExceptionMap:
        return self._services.registry.exceptions

    @property
    def services(self) -> Services:
        return self._services

    @property
    def claimed(self) -> Claimed:
        return self._job

    async def emit(
        self, name: str, message: str | None = None, *, level: str = "info", fields: dict[str, Any] | None = None
    ) -> None:
        """Writes an event; it is durable when this returns, whatever becomes of the operation."""
        waits.check_event(name, level)
        note = Note(self.id, self.fence, name=name, message=message, level=level, fields=fields)
        note.progress = waits.progress_in(fields)
        await self.write(note)

    async def progress(self, current: float, total: float | None = None, message: str | None = None) -> None:
        """Sets the progress. At most one write a second; the last value is always written."""
        self._total = total if total is not None else self._total
        waits.check_progress(current, self._total)
        self._progress = (current, self._total)
        if message is not None or time.monotonic() - self._progress_at >= _PROGRESS_EVERY:
            await self.flush_progress(message)
        elif self._progress_timer is None:
            self._progress_timer = asyncio.get_running_loop().call_later(_PROGRESS_EVERY, self._progress_due)

    def _progress_due(self) -> None:
        self._progress_timer = None
        note = self._take_progress(None)
        if note is not None and not self.lost:
            self._keep(self._services.group_commit.note(note))

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
        """The entry is over, whichever way: its last progress is written before the job is settled."""
        note = self._take_progress(None)
        if note is not None and not self.lost:
            self._keep(self._services.group_commit.note(note))

    async def flush_progress(self, message: str | None = None) -> None:
        note = self._take_progress(message)
        if note is not None:
            await self.write(note)

    async def share_progress(self) -> None:
        """Makes the parent's progress the sum of its children's, this one's so far included.

        For parents that count in something else than children, such as seconds of audio: they set their total with
        `progress` before they gather. A job without a parent, or with one that counts children, shares nothing.
        """
        await waits.share_progress(self)

    async def meter(
        self,
        *,
        model: str | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cost_cents: float | None = None,
    ) -> None:
        """Records what was used. Inside a step it becomes part of the step's record."""
        meter = current_meter.get()
        if meter is not None:
            meter.add(model, tokens_in, tokens_out, cost_cents)
            return
        used = {"model": model, "tokens_in": tokens_in, "tokens_out": tokens_out, "cost_cents": cost_cents}
        fields = {name: value for name, value in used.items() if value is not None}
        metered = call(model, tokens_in, tokens_out, cost_cents)
        await self.write(Note(self.id, self.fence, name="job.metered", fields=fields, used=[metered] if metered else ()))

    async def step(self, name: str, function: Callable[..., Any], *args: Any, key: str | None = None, **kwargs: Any) -> Any:
        """Runs `function` once per job. Later entries get the recorded output without running it again."""
        self.check()
        return await run_step(self, waits.full_name(name, key), function, args, kwargs)

    async def parallel(self, *steps: Awaitable[Any]) -> list[Any]:
        """Runs independent steps concurrently: `a, b = await ctx.parallel(ctx.step(…), ctx.step(…))`.

        All of them run to their end, so that what succeeded is recorded; then the first failure, if any, is raised.
        """
        token = busy_with.set("parallel")
        try:
            outcomes = await asyncio.gather(*steps, return_exceptions=True)
        finally:
            busy_with.reset(token)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return list(outcomes)

    async def gather(
        self,
        operation: str,
        payloads: Iterable[Any],
        *,
        key: str | None = None,
        partial_ok: bool = False,
        **options: Any,
    ) -> Children:
        """Runs `operation` once per payload as child jobs, and waits for all of them without holding a slot.

        Children that fail raise ChildrenFailed, unless `partial_ok`. Options are those of enqueue.
        """
        self._may_wait("gather")
        return await waits.gather(self, operation, payloads, key, partial_ok, options)

    async def spawn(self, operation: str, payloads: Iterable[Any], *, key: str | None = None, **options: Any) -> int:
        """Fans out child jobs and goes on; the last child to end closes this job. Answers how many there are."""
        self._may_wait("spawn")
        return await waits.spawn(self, operation, payloads, key, options)

    async def sleep(self, seconds: float, *, key: str | None = None) -> None:
        """Frees the slot and comes back when `seconds` have passed since the first encounter."""
        self._may_wait("sleep")
        await waits.sleep(self, seconds, key)

    async def wait_for(self, signal: str, *, timeout: float | None = None, key: str | None = None) -> Any:
        """Frees the slot until `app.signal(job_id, signal, payload)`; answers the payload. WaitTimeout if none came."""
        self._may_wait("wait_for")
        return await waits.wait_for(self, signal, timeout, key)

    async def submit(self, provider: str, orders: Sequence[Order], *, key: str | None = None) -> list[ProviderJob]:
        """Places orders with a batch provider, each at most once, and frees the slot until all of them have ended. Answers
        what became of each, in the order given; orders that failed are among them."""
        self._may_wait("submit")
        return await submitting.submit(self, provider, orders, key)

    def results_of(self, ordered: ProviderJob) -> AsyncGenerator[Result, None]:
        """The results of an order that has ended, in any order, as they are read at the provider."""
        return submitting.results_of(self, ordered)

    async def clean_up(self, ordered: ProviderJob) -> None:
        """Removes what the order has left at its provider, such as an input file. Twice is as good as once."""
        await submitting.clean_up(self, ordered)

    async def spend(self, cents: float, *, key: str | None = None, limit: float | None = None) -> None:
        """Holds back what the work that follows may cost. While the tenant's limit, or `limit` for the whole run, has no
        room for it, the job waits for `budget` and frees its slot."""
        self._may_wait("spend")
        await spending.spend(self, cents, key, limit)

    async def spent(self, cents: float, *, key: str | None = None) -> None:
        """What the work behind `spend` really cost."""
        self.check()
        await spending.spent(self, cents, key)

    def enqueue(self, operation: str, payload: Any = None, **options: Any) -> str:
        """A follow-up job that is created if and only if this one succeeds, in the same transaction. Answers its id."""
        job = self._services.new_job(operation, payload, **self.inherit(options))
        self.heavy = self.heavy or not self.values.small(job.payload_json)
        self.follow_ups.append(job)
        return job.id

    async def place_follow_ups(self) -> None:
        """Large payloads become blobs before the transaction that makes their jobs; if it fails, they are swept."""
        for job in self.follow_ups if self.heavy else ():
            if not self.values.small(job.payload_json):
                await self._services.place_payload(job)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Rows of your own and new jobs, committed only if this attempt still holds its job: LeaseLost, and nothing of it,
        otherwise. New jobs are made as by `enqueue`, with the tenant, lane, priority and subject of this one."""
        self.check()
        with self._losing():
            async with transaction.block(self._services, self._own_fence, self.inherit) as tx:
                yield tx

    async def transact(self, unit: Unit[T]) -> T:
        """The same as a function of the transaction; see `App.transact`."""
        self.check()
        with self._losing():
            return await units.transact(self._services, unit, self._own_fence, self.inherit)

    @property
    def _own_fence(self) -> Fence:
        return transaction.Fence(self.id, self.fence)

    @contextmanager
    def _losing(self) -> Iterator[None]:
        try:
            yield
        except LeaseLost:
            self.lost = True
            raise

    async def read(self, unit: ReadUnit[T]) -> T:
        """See `App.read`."""
        return await transaction.read(self._services, unit)

    async def query(self, name: str, /, **params: Any) -> Sequence[Row]:
        """The rows of a slice's named query that only reads."""
        return await self.read(lambda now: now.query(name, **params))

    async def in_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Runs a plain function beside the event loop. A thread cannot be killed: if the job is interrupted meanwhile, its
        slot stays taken until the function has returned."""
        running = asyncio.get_running_loop().run_in_executor(self._services.threads, function, *args)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait({running})
            running.exception()  # heard, and of no more use to anybody
            raise

    async def budget(self, name: str) -> None:
        """Waits until a rate budget is open, holding the slot only for short waits."""
        await waits.budget(self, name)

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

    def _may_wait(self, what: str) -> None:
        self.check()
        inside = busy_with.get()
        if inside is not None:
            raise WaitRefused(
                f"{what}() inside {'a step' if inside == 'step' else 'parallel()'} cannot suspend the job, because the code "
                f"around it is not on record yet; move it into the operation itself"
            )

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
