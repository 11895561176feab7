"""The caller's own transaction: their rows and our jobs commit together or not at all.

It comes in two forms. `async with app.transaction() as tx` is a block that may do anything in between, and is never run
twice. `await app.transact(unit)` runs a function of the transaction, again if the database says so (a deadlock, a cut
connection), and on SQLite together with others in one commit; so the function awaits nothing but the transaction. From a
running operation both are fenced: `ctx.transaction()` and `ctx.transact(unit)` commit only while the attempt holds its job.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from towpath.core.records import Job, NewJob
from towpath.engine.services import Services
from towpath.engine.subjects import jobs_of
from towpath.engine.tracing import current_trace, enqueueing
from towpath.engine.values import blob_prefix
from towpath.store import journal
from towpath.store.contract import Row, Tx

T = TypeVar("T")
Inherit = Callable[[dict[str, Any]], Mapping[str, Any]]


class Reading:
    """One look at the database: everything asked through it is as of one moment."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    @property
    def now(self) -> datetime:
        """The database's time, which every lease, deadline and schedule is measured by."""
        return self._tx.now

    async def fetch(self, sql: str, *params: Any) -> Sequence[Row]:
        """The rows of a statement in the database's own SQL: `$1` on PostgreSQL, `?` on SQLite."""
        return await self._tx.fetch_sql(sql, *params)

    async def query(self, name: str, /, **params: Any) -> Sequence[Row]:
        """The rows of a slice's named query."""
        return await self._tx.fetch(name, **params)

    async def jobs_of(self, kind: str, ids: Iterable[str]) -> dict[str, list[Job]]:
        """By id of the things that they work on, each with its root jobs, oldest first."""
        return await jobs_of(self._tx, kind, ids)


ReadUnit = Callable[[Reading], Awaitable[T]]


class Transaction(Reading):
    def __init__(self, tx: Tx, services: Services, inherit: Inherit | None = None) -> None:
        super().__init__(tx)
        self._services = services
        self._inherit = inherit or dict
        self.unused: list[str] = []
        """Jobs that did not come to be, because a live one held their key, with payloads that nobody will read."""

    async def execute(self, sql: str, *params: Any) -> int:
        """Runs a statement in the database's own SQL; answers how many rows it changed."""
        return await self._tx.execute_sql(sql, *params)

    async def change(self, name: str, /, **params: Any) -> int:
        """Runs a slice's named query that changes something; answers how many rows it changed."""
        return await self._tx.execute(name, **params)

    async def enqueue(self, operation: str, payload: Any = None, **options: Any) -> str:
        """Adds a job that exists if and only if this transaction commits; answers its id."""
        with enqueueing([operation]):
            given = {"trace": current_trace(), **self._inherit(options)}
            job = self._services.new_job(operation, payload, **given)
            large = not self._services.values.small(job.payload_json)
            [made] = await self._tx.insert_jobs([await self._placed(job) if large else job])
        if large and made.id != job.id:
            self.unused.append(job.id)
        return made.id

    async def _placed(self, job: NewJob) -> NewJob:
        """Its payload becomes a blob before there is a row that names it; if the transaction is rolled back, it is swept."""
        return await self._services.place_payload(job)


Unit = Callable[[Transaction], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class _Placed:
    text: str
    """The payload as it was asked for."""
    job_id: str
    reference: str


class _NotPlaced(Exception):
    """A payload of a unit is too large for its row, and a unit may not wait for the blob store: it is placed outside, and
    the unit run again."""

    def __init__(self, job: NewJob, nth: int) -> None:
        super().__init__(job.id)
        self.job, self.nth = job, nth


class _UnitTransaction(Transaction):
    def __init__(self, tx: Tx, services: Services, inherit: Inherit | None, placed: list[_Placed]) -> None:
        super().__init__(tx, services, inherit)
        self._ready, self._nth = placed, 0

    async def _placed(self, job: NewJob) -> NewJob:
        nth, self._nth = self._nth, self._nth + 1
        if nth >= len(self._ready) or self._ready[nth].text != job.payload_json:
            raise _NotPlaced(job, nth)
        job.id, job.payload_json = self._ready[nth].job_id, self._ready[nth].reference
        return job


@dataclass(frozen=True, slots=True)
class Fence:
    """Which attempt of which job has to be the running one."""

    job_id: str
    attempt: int

    async def hold(self, tx: Tx) -> None:
        """LeaseLost if it is not. The job's row stays locked until the end, so nobody takes it away in between. It is locked
        first: whoever locks jobs and rows of his own does it in this order, and nobody waits in a circle."""
        await journal.hold(tx, self.job_id, self.attempt)


def block(
    services: Services, fence: Fence | None = None, inherit: Inherit | None = None
) -> AbstractAsyncContextManager[Transaction]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Transaction]:
        async with services.store.transaction() as tx:
            if fence is not None:
                await fence.hold(tx)
            transaction = Transaction(tx, services, inherit)
            yield transaction
        await _drop(services, transaction.unused)

    return opened()


async def transact(services: Services, unit: Unit[T], fence: Fence | None = None, inherit: Inherit | None = None) -> T:
    placed: list[_Placed] = []
    unused: list[str] = []

    async def work(tx: Tx) -> T:
        if fence is not None:
            await fence.hold(tx)
        transaction = _UnitTransaction(tx, services, inherit, placed)
        value = await unit(transaction)
        unused[:] = transaction.unused
        return value

    while True:
        try:
            value = await services.store.run(work)
        except _NotPlaced as large:
            text = large.job.payload_json
            job = await services.place_payload(large.job)
            placed[large.nth :] = [_Placed(text, job.id, job.payload_json)]
        else:
            await _drop(services, unused)
            return value


async def read(services: Services, unit: ReadUnit[T]) -> T:
    return await services.store.read(lambda tx: unit(Reading(tx)))


async def _drop(services: Services, job_ids: Sequence[str]) -> None:
    for job_id in job_ids:
        await services.blobs.delete_prefix(blob_prefix(job_id))
