"""What an operation is handed: its job, and everything it may do while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from towpath.core.errors import LeaseLost, WaitRefused
from towpath.core.records import Subject
from towpath.core.usage import call
from towpath.engine import transaction, units
from towpath.engine.running import spending, submitting, waits
from towpath.engine.running.current import busy_with, current_meter
from towpath.engine.running.fenced_job import FencedJob
from towpath.engine.running.steps import run_step
from towpath.engine.values import blob_prefix
from towpath.store.journal import Note

if TYPE_CHECKING:
    from towpath.blobs import BlobStore
    from towpath.config import Settings
    from towpath.core.provider_jobs import ProviderJob
    from towpath.engine.resources import Resources
    from towpath.engine.running.children import Children
    from towpath.engine.transaction import Fence, ReadUnit, Transaction, Unit
    from towpath.providers import Order, Result
    from towpath.store.contract import Row

T = TypeVar("T")


class Context(FencedJob):
    """One entry of one job: a run of its operation from the top. There are several if the job waits or is retried.

    Everything written through it is fenced: once the job has been cancelled, rescued or requeued, the next write raises
    LeaseLost and nothing of it counts.
    """

    __slots__ = ()

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
    def resources(self) -> Resources:
        return self._services.resources

    @property
    def blobs(self) -> BlobStore:
        return self._services.blobs

    def blob_key(self, name: str = "") -> str:
        """A key of the blob store below the job's own: what is put there goes when the job is deleted, if not before."""
        return f"{blob_prefix(self.id)}/{name}" if name else blob_prefix(self.id)

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
        await self.report(current, total, message)

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

        Children that fail raise ChildrenFailed, unless `partial_ok`. Options are those of enqueue; `subject` may be a
        function of the payload.
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

    def _may_wait(self, what: str) -> None:
        self.check()
        inside = busy_with.get()
        if inside is not None:
            raise WaitRefused(
                f"{what}() inside {'a step' if inside == 'step' else 'parallel()'} cannot suspend the job, because the code "
                f"around it is not on record yet; move it into the operation itself"
            )
