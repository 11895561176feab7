"""The caller's own transaction: their rows and our jobs commit together or not at all.

It comes in two forms. `async with app.transaction() as tx` is a block that may do anything in between, and is never run
twice. `await app.transact(unit)` runs a function of the transaction, again if the database says so (a deadlock, a cut
connection), and on SQLite together with others in one commit; so the function awaits nothing but the transaction. From a
running operation both are fenced: `ctx.transaction()` and `ctx.transact(unit)` commit only while the attempt holds its job.
Units are in `units.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from towpath.core.ids import uuid7s
from towpath.core.records import DEFAULT_TENANT, Job, NewJob
from towpath.engine import notices
from towpath.engine.registry import check_label
from towpath.engine.services import Services
from towpath.engine.subjects import jobs_of
from towpath.engine.tracing import current_trace, enqueueing
from towpath.store import journal, last_words
from towpath.store.contract import Row, Tx
from towpath.store.signals import Signal, send_many

T = TypeVar("T")
Inherit = Callable[[dict[str, Any]], dict[str, Any]]


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

    async def change_many(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Runs such a query once for each of the rows, in one round trip. Nobody counts what that changed."""
        await self._tx.execute_many(name, [dict(row) for row in rows])

    async def enqueue(self, operation: str, payload: Any = None, **options: Any) -> str:
        """Adds a job that exists if and only if this transaction commits; answers its id."""
        [job_id] = await self.enqueue_many([{"operation": operation, "payload": payload, **options}])
        return job_id

    async def enqueue_many(self, jobs: Iterable[dict[str, Any]]) -> list[str]:
        """Adds many in one round trip, each given as `App.enqueue_many` takes them; answers their ids in the same order."""
        given: list[Any] = list(jobs)
        if not given:
            return []
        with enqueueing([str(item.get("operation")) for item in given if isinstance(item, dict)]):
            items = [self._inherit(item) if isinstance(item, dict) else item for item in given]
            new = self._services.new_jobs(items, current_trace())
            large = [job for job in new if not self._services.values.small(job.payload_json)]
            for job in large:
                await self._place(job)
            made = [one.id for one in await self._tx.insert_jobs(new)]
        if large:
            self.unused += {job.id for job in large}.difference(made)
        return made

    async def signal_many(self, signals: Iterable[tuple[str, str, Any]]) -> list[str]:
        """Sends signals to many jobs at once, each as the job's id, a name and a payload. Answers those that it reached:
        what has ended is passed over."""
        given = [(job_id, check_label("signal", name), payload) for job_id, name, payload in signals]
        if not given:
            return []
        encoded = [self._services.values.encode(payload, f"the payload of signal {name!r}") for _, name, payload in given]
        numbers = uuid7s(len(given))
        made = [Signal(n, job_id, name, text) for n, (job_id, name, _), text in zip(numbers, given, encoded, strict=True)]
        return await send_many(self._tx, made)

    async def leave_word(self, job_id: str, operation: str, payload: Any = None, **options: Any) -> None:
        """Has a job made should that one fail or be cancelled, whoever does that, in the very transaction that ends it. For
        jobs that others wait for. Its options are those of enqueue that have no time, key or subject."""
        await last_words.leave(self._tx, job_id, self._services.new_job(operation, payload, **options))

    async def tell(self, kind: str, *ids: str, tenant: str | None = None) -> None:
        """Has the push stream tell of these things once this transaction has committed, as if a job of theirs had changed:
        by the projection of their kind, or as deleted if that knows nothing of them. From a running operation the tenant is
        its own if none is given."""
        given = {} if tenant is None else {"tenant": tenant}
        await notices.tell(self._tx, kind, ids, self._inherit(given).get("tenant", DEFAULT_TENANT))

    async def _place(self, job: NewJob) -> None:
        """Its payload becomes a blob before there is a row that names it; if the transaction is rolled back, it is swept."""
        await self._services.place_payload(job)


Unit = Callable[[Transaction], Awaitable[T]]


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
        await services.drop_payloads(transaction.unused)

    return opened()


async def read(services: Services, unit: ReadUnit[T]) -> T:
    return await services.store.read(lambda tx: unit(Reading(tx)))
