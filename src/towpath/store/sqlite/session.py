"""A caller's own transaction on SQLite: each call is sent to the writer's thread, which waits for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

from towpath.core.errors import StoreUnavailable
from towpath.core.records import Enqueued, Event, Job, NewJob
from towpath.store.contract import Row
from towpath.store.sqlite.tx import SqliteTx
from towpath.store.sqlite.writer import Session

_LOCK_SECONDS = 30.0


async def begin(session: Session) -> SessionTx:
    """Once it has the write lock. How long it may keep that is counted from then on."""
    limit = asyncio.timeout(_LOCK_SECONDS)
    try:
        async with limit:
            await asyncio.wrap_future(session.opened)
    except BaseException as error:
        session.calls.put(("rollback", Future()))  # if it got the lock in this very moment, nobody else would give it back
        if isinstance(error, TimeoutError) and limit.expired():
            raise StoreUnavailable(
                f"the write lock of the SQLite file did not become free within {_LOCK_SECONDS:g} s, so the transaction was "
                f"not begun; another one holds it: keep transactions short, and look for a process that hangs"
            ) from None
        raise
    return SessionTx(session)


class SessionTx:
    dialect = "sqlite"

    def __init__(self, session: Session) -> None:
        self._session = session
        self.now: datetime = datetime.now(UTC)
        self.rings: set[str] = set()
        self.cancelled: list[str] = []
        self.wake_streams = False

    async def _call(self, call: Callable[[SqliteTx], Awaitable[Any]] | str) -> Any:
        answer: Future[Any] = Future()
        self._session.calls.put((call, answer))
        return await asyncio.wrap_future(answer)

    async def end(self, how: str) -> None:
        await self._call(how)

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]:
        rows: Sequence[Row] = await self._call(lambda tx: tx.fetch(query, **params))
        return rows

    async def execute(self, query: str, /, **params: Any) -> int:
        return int(await self._call(lambda tx: tx.execute(query, **params)))

    async def execute_many(self, query: str, rows: Sequence[dict[str, Any]]) -> None:
        await self._call(lambda tx: tx.execute_many(query, rows))

    async def execute_all(self, queries: tuple[str, ...], /, **params: Any) -> None:
        await self._call(lambda tx: tx.execute_all(queries, **params))

    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]:
        rows: Sequence[Row] = await self._call(lambda tx: tx.fetch_sql(sql, *params))
        return rows

    async def execute_sql(self, sql: str, *params: Any) -> int:
        return int(await self._call(lambda tx: tx.execute_sql(sql, *params)))

    async def jobs(self, query: str, /, **params: Any) -> list[Job]:
        jobs: list[Job] = await self._call(lambda tx: tx.jobs(query, **params))
        return jobs

    async def write_jobs(self, changes: list[tuple[Job, Job, list[str]]]) -> None:
        await self._call(lambda tx: tx.write_jobs(changes))

    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        outcome: list[Enqueued] = await self._call(lambda tx: tx.insert_jobs(jobs))
        return outcome

    async def insert_events(self, events: Sequence[Event]) -> None:
        await self._call(lambda tx: tx.insert_events(events))
