"""App: what people import. Each of its verbs hands what it is asked to the room that does it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from towpath import config
from towpath.core.errors import ConfigurationError, JobCancelled, JobFailed, NotRequeueable, ResultTimeout
from towpath.core.lifecycle import State
from towpath.core.records import DEFAULT_QUEUE, Event, Job, Step, Subject, WorkerRow
from towpath.engine import schedules, tracing, transaction, units
from towpath.engine.asking import bells, explain, liveness, reading
from towpath.engine.asking.checkup import checkup
from towpath.engine.asking.findings import Finding
from towpath.engine.asking.listing import list_jobs
from towpath.engine.asking.statistics import Statistics, statistics
from towpath.engine.backup import Backup, backup
from towpath.engine.changing import cancelling, deleting, requeueing, signalling
from towpath.engine.changing.deleting import Removed
from towpath.engine.changing.inbox import Inbox
from towpath.engine.changing.prices import Prices
from towpath.engine.changing.priorities import reprioritize
from towpath.engine.changing.provider_jobs import ProviderJobs
from towpath.engine.changing.queues import Queues
from towpath.engine.changing.spending import Spending
from towpath.engine.changing.subjects import Subjects
from towpath.engine.opening import Opening
from towpath.engine.providers import Providers
from towpath.engine.registry import check_name
from towpath.engine.running.stints import until_set, until_signal
from towpath.engine.running.worker import Worker
from towpath.engine.services import check_priority
from towpath.engine.sync import SyncApp
from towpath.engine.tending import retention, rollups
from towpath.engine.transaction import ReadUnit, Transaction, Unit
from towpath.store.contract import Row

T = TypeVar("T")


class App(Opening):
    """The engine on one database. `async with app:` opens it; every other call needs it open."""

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: config.Settings | None = None,
        clock: Callable[[], float] = time.time,
        migrate_on_start: bool = True,
        blobs_on_start: bool = True,
    ) -> None:
        settings = settings or config.load()
        super().__init__(
            url or settings.database_url, settings, clock, migrate_on_start=migrate_on_start, blobs_on_start=blobs_on_start
        )
        self._sync = SyncApp(self)

    def sync(self) -> SyncApp:
        """The same app for code without an event loop: Django, Flask, scripts. One per app, opened by its first call."""
        return self._sync

    # -- putting jobs in

    async def enqueue(self, operation: str, payload: Any = None, **options: Any) -> Job:
        """Adds a job; options are tenant, lane, priority, cost, run_at, delay, key, queue, max_attempts, trace, subject.

        With a `key`, a live job of the same tenant, operation and key is answered instead of a second one.
        """
        [job] = await self.enqueue_many([{"operation": operation, "payload": payload, **options}])
        return job

    async def enqueue_many(self, jobs: Iterable[dict[str, Any]]) -> list[Job]:
        """Adds many jobs in one round trip, all or none; each item has `operation`, `payload` and enqueue's options."""
        items = list(jobs)
        if not tracing.active():
            return await self._enqueue(items)
        with tracing.enqueueing([str(item.get("operation")) for item in items]):
            return await self._enqueue(items)

    async def _enqueue(self, items: Sequence[dict[str, Any]]) -> list[Job]:
        services, trace = self.services, tracing.current_trace()
        if not items:
            return []
        new = services.new_jobs(items, trace)
        placed = [job for job in new if len(job.payload_json) > services.values.inline_bytes]
        for job in placed:
            await services.place_payload(job)
        made = [enqueued.id for enqueued in await services.store.enqueue(new)]
        if placed:  # where a live job holds the key, what was put aside is nobody's
            await services.drop_payloads({job.id for job in placed}.difference(made))
        pairs = zip(new, made, strict=True)
        return [job.as_job() if made_id == job.id else await self.get(made_id) for job, made_id in pairs]

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Your own rows and new jobs in one transaction, as a block: `async with app.transaction() as tx`."""
        return transaction.block(self.services)

    async def transact(self, unit: Unit[T]) -> T:
        """Your own rows and new jobs in one transaction, as a function of it that awaits nothing else. It is run again if
        the database says so, and shares a commit with others where that helps."""
        return await units.transact(self.services, unit)

    async def read(self, unit: ReadUnit[T]) -> T:
        """What a function finds out about one moment; it awaits nothing but what it is handed."""
        return await transaction.read(self.services, unit)

    async def query(self, name: str, /, **params: Any) -> Sequence[Row]:
        """The rows of a slice's named query that only reads."""
        return await self.read(lambda now: now.query(name, **params))

    # -- looking at jobs

    async def get(self, job_id: str) -> Job:
        return await reading.get(self.services.store, job_id)

    async def list(
        self,
        *,
        state: str | None = None,
        operation: str | None = None,
        queue: str | None = None,
        tenant: str | None = None,
        parent: str | None = None,
        subject: Subject | None = None,
        limit: int = 100,
        before: str | None = None,
    ) -> Sequence[Job]:
        """Jobs, newest first; `before` is the last id of the previous page."""
        return await list_jobs(
            self.services.store, state=state, operation=operation, queue=queue, tenant=tenant, parent=parent,
            subject=subject, before=before, limit=limit,
        )  # fmt: skip

    async def steps(self, job_id: str) -> Sequence[Step]:
        return await reading.steps(self.services.store, job_id)

    async def payload(self, job_id: str) -> Any:
        """The job's payload, fetched from the blob store if it went there."""
        return await self.services.values.fetch((await self.get(job_id)).payload_json)

    def events(
        self, *, job_id: str | None = None, after: int | str | None = None, follow: bool = False
    ) -> AsyncIterator[Event]:
        """The events of one job after a `seq`, or of all jobs after a token; with `follow`, as they happen."""
        if job_id is not None:
            return reading.follow_job(self.services.store, job_id, int(after or 0), follow)
        return reading.follow_all(self.services.store, None if after is None else str(after), follow)

    async def result(self, job_id: str, timeout: float | None = None) -> Any:
        """Waits for the job's end and answers its result; JobFailed, JobCancelled or ResultTimeout otherwise."""
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                async for _ in self.events(job_id=job_id, follow=True):
                    pass
        except TimeoutError:
            if not limit.expired():
                raise
            raise ResultTimeout(f"job {job_id} has not ended within {timeout} s; it goes on") from None
        job = await self.get(job_id)
        if job.state is State.FAILED:
            error = job.error or {}
            raise JobFailed(f"job {job_id} failed: {error.get('message', 'no reason recorded')}", error)
        if job.state is State.CANCELLED:
            raise JobCancelled(f"job {job_id} was cancelled")
        return await self.services.values.fetch(job.result_json)

    async def explain(self, job_id: str) -> explain.Explanation:
        """Why the job is where it is."""
        told = await explain.explain(self.services.store, reading.check_id(job_id), self.services.explainers)
        transport = self.services.transport
        if transport.away is not None and told.reason in explain.WAITS_FOR_A_BELL:
            told.sentence += f"; {transport.name} is away, so workers look every {self.settings.poll_seconds:g} s"
        return told

    async def workers(self) -> Sequence[WorkerRow]:
        return await liveness.workers(self.services.store)

    async def now(self) -> datetime:
        """The database's time: the one every lease, deadline and schedule is measured by."""
        return await reading.now(self.services.store)

    async def checkup(self) -> Sequence[Finding]:
        """Whether anything is stuck, and what to do about it."""
        return [*await checkup(self.services.store), await bells.checkup(self.services.transport)]

    @property
    def inbox(self) -> Inbox:
        return Inbox(self.services)

    @property
    def subjects(self) -> Subjects:
        """Jobs by what they work on."""
        return Subjects(self.services)

    @property
    def provider_jobs(self) -> ProviderJobs:
        """What was ordered from batch providers."""
        return ProviderJobs(self.services)

    @property
    def providers(self) -> Providers:
        """The batch providers it was given: their names, and by name each with its limits and what it can do."""
        return self.services.providers

    @property
    def spending(self) -> Spending:
        """How much tenants and runs may spend."""
        return Spending(self.services)

    @property
    def queues(self) -> Queues:
        return Queues(self.services)

    @property
    def schedules(self) -> schedules.Schedules:
        return schedules.Schedules(self.services)

    @property
    def prices(self) -> Prices:
        """What models cost, for calls that did not say so themselves."""
        return Prices(self.services.store)

    async def statistics(
        self, window: str = "24h", *, operation: str | None = None, queue: str | None = None, tenant: str | None = None
    ) -> Statistics:
        """Throughput, latencies, failures and costs of the last `1h`, `24h` or `7d`."""
        await rollups.catch_up(self.services.store)
        return await statistics(self.services.store, window, operation=operation, queue=queue, tenant=tenant)

    # -- moving jobs

    async def cancel(self, job_id: str, reason: str | None = None) -> bool:
        """Cancels the job and its children, wherever they are. False if it had ended already."""
        asked = reading.check_id(job_id)
        done = await cancelling.cancel(self.services.store, [asked], reason)
        if asked not in done.was:
            raise reading.no_job(job_id)
        return asked in done.ids

    async def requeue(self, job_id: str, *, payload: Any = None, keep_steps: bool = False) -> Job:
        """Gives an ended job a fresh start. NotRequeueable says why if it cannot have one."""
        job = await self.get(job_id)
        done = await requeueing.requeue(self.services, [job.id], payload=payload, keep_steps=keep_steps)
        if refused := done.refused.get(job.id):
            raise NotRequeueable(f"job {job_id} was not requeued: {refused}")
        return await self.get(job_id)

    async def reprioritize(self, job_id: str, priority: int) -> Job:
        """Moves a queued job to another priority, 0 (first) to 3 (last), with a fresh place there."""
        return await reprioritize(self.services.store, reading.check_id(job_id), check_priority(priority))

    async def signal(self, job_id: str, name: str, payload: Any = None) -> None:
        """Sends a signal to a job that waits for it now or later."""
        await signalling.send(self.services, reading.check_id(job_id), name, payload)

    async def delete(self, job_id: str) -> int:
        """Removes an ended job with its children and history; answers how many jobs went."""
        return await deleting.delete_tree(self.services, reading.check_id(job_id))

    async def remove(self, job_ids: Sequence[str]) -> Removed:
        """Removes jobs whatever they are doing, each with its children and history: what is live is cancelled first, and
        handlers get a few seconds to end. What could not go is in `refused`, with the reason."""
        return await deleting.remove(self.services, [reading.check_id(job_id) for job_id in job_ids])

    async def prune(self, older_than: timedelta, *, failed: bool = False, queue: str | None = None) -> int:
        """Removes jobs that ended longer ago, with their history; failed and partial ones only if asked."""
        return await retention.prune_all(self.services, older_than, failed=failed, queue=queue)

    async def backup(self, target: Path) -> Backup:
        """Copies a SQLite database and its blobs while everything goes on."""
        return await backup(self.services, target)

    # -- working

    async def run_worker(
        self,
        queues: Sequence[str] | None = None,
        concurrency: int = 8,
        *,
        name: str | None = None,
        stop: asyncio.Event | None = None,
    ) -> None:
        """Works until `stop` is set, and then returns when running jobs have finished or been handed back, as after SIGTERM.

        Cancelling it does the same, and ends in CancelledError; a second time, it does not wait for the jobs.
        """
        await until_set(stop or asyncio.Event(), self.worker(queues, concurrency, name=name), self._workers)

    def worker(self, queues: Sequence[str] | None = None, concurrency: int = 8, *, name: str | None = None) -> Worker:
        if concurrency < 1:
            raise ConfigurationError(f"concurrency must be at least 1, got {concurrency}")
        served = [check_name("a queue's name", queue) for queue in (queues or self.registry.queues() or [DEFAULT_QUEUE])]
        return Worker(self.services, served, concurrency, name=name)

    async def run_until_signal(self, queues: Sequence[str] | None, concurrency: int, name: str | None = None) -> None:
        """A worker process: SIGTERM or SIGINT lets running jobs finish or hands them back; a second one does not wait."""
        await until_signal(self.worker(queues, concurrency, name=name), self._workers)
