"""A SQLite transaction. Its methods are coroutines that never suspend, so a unit runs straight through in one thread."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

import apsw

from towpath.core.encoding import encode
from towpath.core.lifecycle import State
from towpath.core.moments import moment
from towpath.core.provider_jobs import ProviderJob
from towpath.core.records import JOB_COLUMNS, Enqueued, Event, Job, NewJob, Schedule, Step, WorkerRow, column
from towpath.store.columns import PYTHON_TYPES, moments_of
from towpath.store.contract import Row
from towpath.store.sql import Queries
from towpath.store.sqlite import bulk, inserting

T = TypeVar("T")

# Columns of any table that hold a moment: those of the records, and of tables that have no record. SQLite has no type for
# that: they are numbers, and become moments by their names.
_TIMES = frozenset(
    {column(name) for record in (Job, Event, Step, WorkerRow, Schedule, ProviderJob) for name in moments_of(record)}
    | {"blocked_until", "paused_at", "updated_at", "minute", "first_at", "last_at"}
)
_JOB_TIMES = tuple(index for index, name in enumerate(JOB_COLUMNS) if PYTHON_TYPES[name] is datetime)
_JOB_BOOLS = tuple(index for index, name in enumerate(JOB_COLUMNS) if PYTHON_TYPES[name] is bool)
_JOB_STATE = JOB_COLUMNS.index("state")
_STATES = {state.value: state for state in State}


def drive(unit: Awaitable[T]) -> T:
    """Runs a coroutine that awaits nothing but a SqliteTx, without an event loop."""
    try:
        unit.__await__().send(None)
    except StopIteration as stop:
        value: T = stop.value
        return value
    raise RuntimeError("a unit of work may await nothing but its transaction")


def job_from(row: Sequence[Any]) -> Job:
    values = list(row)
    for index in _JOB_TIMES:
        if values[index] is not None:
            values[index] = datetime.fromtimestamp(values[index], UTC)
    for index in _JOB_BOOLS:
        values[index] = bool(values[index])
    values[_JOB_STATE] = _STATES[values[_JOB_STATE]]
    return Job(*values)


@lru_cache(maxsize=512)
def _update(fields: tuple[str, ...]) -> str:
    assignments = ", ".join(f"{column(name)} = ?" for name in fields)
    return f"UPDATE towpath_job SET {assignments} WHERE id = ? AND state = ? AND attempt = ?"


class SqliteTx:
    dialect = "sqlite"

    def __init__(self, connection: apsw.Connection, queries: Queries, now: datetime) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.rings: set[str] = set()
        self.cancelled: list[str] = []
        self.wake_streams = False  # every commit does here

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]:
        return self._rows(self.queries[query].text, _bindings(params))

    async def execute(self, query: str, /, **params: Any) -> int:
        self.connection.execute(self.queries[query].text, _bindings(params))
        return self.connection.changes()

    async def execute_many(self, query: str, rows: Sequence[dict[str, Any]]) -> None:
        self.connection.executemany(self.queries[query].text, [_bindings(row) for row in rows])

    async def execute_all(self, queries: tuple[str, ...], /, **params: Any) -> None:
        bindings = _bindings(params)
        for query in queries:
            self.connection.execute(self.queries[query].text, bindings)

    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]:
        return self._rows(sql, params, times=False)

    async def execute_sql(self, sql: str, *params: Any) -> int:
        self.connection.execute(sql, params)
        return self.connection.changes()

    async def jobs(self, query: str, /, **params: Any) -> list[Job]:
        return [job_from(row) for row in self.connection.execute(self.queries[query].text, _bindings(params))]

    def _rows(self, sql: str, bindings: Any, times: bool = True) -> list[dict[str, Any]]:
        cursor = self.connection.execute(sql, bindings)
        names: list[str] = []
        rows: list[dict[str, Any]] = []
        for values in cursor:
            names = names or [item[0] for item in cursor.get_description()]
            row = dict(zip(names, values, strict=True))
            if times:
                for name in _TIMES & row.keys():
                    if isinstance(row[name], float):  # a slice's column of the same name may be anything else
                        row[name] = moment(row[name])
            rows.append(row)
        return rows

    async def write_jobs(self, changes: list[tuple[Job, Job, list[str]]]) -> None:
        for before, after, fields in changes:
            values = [_stored(getattr(after, name)) for name in fields]
            guard = (before.id, before.state.value, before.attempt)
            self.connection.execute(_update(tuple(fields)), (*values, *guard))
            if self.connection.changes() != 1:
                raise RuntimeError(f"job {before.id} changed inside its own transaction")

    async def insert_events(self, events: Sequence[Event]) -> None:
        self.connection.executemany(self.queries["insert_event"].text, map(_event_values, events))
        by_number: dict[int, list[str]] = {}
        for event in events:
            by_number.setdefault(event.seq, []).append(event.job_id)
        for seq, ids in by_number.items():
            bulk.list_events(self.connection, self.queries, seq, ids, self.now.timestamp())

    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Stamps and inserts. A key that a live job holds gives that job instead."""
        return await inserting.insert(self, jobs)


def _event_values(event: Event) -> dict[str, Any]:
    return {
        "job_id": event.job_id, "seq": event.seq, "attempt": event.attempt, "name": event.name, "level": event.level,
        "message": event.message, "fields": encode(event.fields) if event.fields else None, "ts": event.ts,
    }  # fmt: skip


def _stored(value: Any) -> Any:
    return value.value if isinstance(value, State) else value


def _bindings(params: dict[str, Any]) -> dict[str, Any]:
    for name, value in params.items():
        if isinstance(value, list | tuple | set):
            params[name] = encode(list(value))
    return params
