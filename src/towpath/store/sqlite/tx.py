"""A SQLite transaction. Its methods are coroutines that never suspend, so a unit runs straight through in one thread."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Any, TypeVar, cast

import apsw

from towpath.core import fairness
from towpath.core.count_deltas import count_new
from towpath.core.encoding import encode
from towpath.core.lifecycle import State
from towpath.core.moments import moment
from towpath.core.records import JOB_COLUMNS, Enqueued, Event, Job, NewJob, column
from towpath.core.working_set import NO_PLACE, shut
from towpath.store.alike import alike
from towpath.store.columns import PYTHON_TYPES, STRAIGHT, straight_of
from towpath.store.contract import Row
from towpath.store.sql import Queries
from towpath.store.sqlite import bulk

T = TypeVar("T")

# Columns of any table that hold a moment. SQLite has no type for that: they are numbers, and become moments by their names.
_TIMES = frozenset(
    [
        "run_at",
        "deadline",
        "lease_until",
        "created_at",
        "started_at",
        "finished_at",
        "until",
        "next_fire",
        "last_fire",
        "seen_at",
        "stopped_at",
        "alive_until",
        "blocked_until",
        "ts",
        "paused_at",
        "updated_at",
        "minute",
        "first_at",
        "last_at",
        "called_at",
        "polled_at",
        "next_poll_at",
        "submitted_at",
        "ended_at",
    ]
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


_NEW = (
    *("id", *STRAIGHT, "root_id", "payload", "pass", "gate", "ready", "parked", "reason"),
    *("key", "live_key", "run_at", "due_at", "created_at"),
)
_INSERT_JOB = f"INSERT INTO towpath_job ({', '.join(_NEW)}) VALUES ({', '.join('?' * len(_NEW))}) ON CONFLICT DO NOTHING"


class SqliteTx:
    dialect = "sqlite"

    def __init__(self, connection: apsw.Connection, queries: Queries, now: datetime) -> None:
        self.connection = connection
        self._queries = queries
        self.now = now
        self.rings: set[str] = set()
        self.cancelled: list[str] = []
        self.wake_streams = False  # every commit does here

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]:
        return self._rows(self._queries[query].text, _bindings(params))

    async def execute(self, query: str, /, **params: Any) -> int:
        self.connection.execute(self._queries[query].text, _bindings(params))
        return self.connection.changes()

    async def execute_many(self, query: str, rows: Sequence[dict[str, Any]]) -> None:
        self.connection.executemany(self._queries[query].text, [_bindings(row) for row in rows])

    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]:
        return self._rows(sql, params, times=False)

    async def execute_sql(self, sql: str, *params: Any) -> int:
        self.connection.execute(sql, params)
        return self.connection.changes()

    async def jobs(self, query: str, /, **params: Any) -> list[Job]:
        return [job_from(row) for row in self.connection.execute(self._queries[query].text, _bindings(params))]

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
        self.connection.executemany(self._queries["insert_event"].text, map(_event_values, events))
        by_number: dict[int, list[str]] = {}
        for event in events:
            by_number.setdefault(event.seq, []).append(event.job_id)
        for seq, ids in by_number.items():
            bulk.list_events(self.connection, self._queries, seq, ids, self.now.timestamp())

    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Stamps and inserts. A key that a live job holds gives that job instead."""
        if len(jobs) > 1 and alike(jobs):
            made = await self._insert_alike(jobs)
            if made is not None:
                return made
        connection, now = self.connection, self.now.timestamp()
        places: dict[tuple[str, int, str], Place] = {}
        outcome: list[Enqueued] = []
        gated: set[tuple[str, str]] = set()
        added: list[NewJob] = []
        for job in jobs:
            lane = (job.queue, job.priority, job.lane)
            place = places.get(lane)
            if place is None:
                place = places[lane] = self._place(lane)
            run_at = _due(job, now)
            pass_, ready, parked, reason = place.of(job, scheduled=run_at is not None)
            connection.execute(
                _INSERT_JOB,
                (
                    job.id, *straight_of(job), job.root_id or job.id, job.payload_json, pass_, place.gate, ready, parked,
                    reason, job.key, job.key, run_at, run_at, now,
                ),
            )  # fmt: skip
            if connection.changes() == 0:
                outcome.append(Enqueued(self._holder(job), created=False))
                continue
            outcome.append(Enqueued(job.id, created=True))
            added.append(job)
            if ready:
                place.tail = pass_
                self.rings.add(job.queue)
            elif parked:
                gated.add((job.queue, job.lane))
        connection.executemany(self._queries["insert_owned"].text, [{"tenant": job.tenant, "id": job.id} for job in added])
        bulk.list_events(connection, self._queries, 1, [job.id for job in added], now)
        for counts in count_new((job.queue, job.operation) for job in added):
            await self.execute("count_new", queue=counts.queue, operation=counts.operation, jobs=counts.created, now=now)
        for queue, name in sorted(gated):
            from towpath.store.ledger import gate as open_gate

            await open_gate(self, queue, name)
        return outcome

    async def _insert_alike(self, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
        """All of them in a few statements; None if they are here already."""
        first, now = jobs[0], self.now.timestamp()
        place = self._place((first.queue, first.priority, first.lane))
        pass_, ready, parked, reason = place.of(first)
        passes = accumulate(repeat(first.cost / place.weight if ready else 0.0, len(jobs) - 1), initial=pass_)
        common = (first.root_id, *straight_of(first), place.gate, ready, parked, reason, now)
        rows = [(job.id, pass_, job.payload_json) for job, pass_ in zip(jobs, passes, strict=True)]
        if not bulk.insert_alike(self.connection, self._queries, common, rows, tenant=first.tenant, now=now):
            return None
        await self.execute("count_new", queue=first.queue, operation=first.operation, jobs=len(jobs), now=now)
        if parked:
            from towpath.store.ledger import gate as open_gate

            await open_gate(self, first.queue, first.lane)
        else:
            self.rings.add(first.queue)
        return [Enqueued(job.id, created=True) for job in jobs]

    def _holder(self, job: NewJob) -> str:
        if self.connection.execute(self._queries["jobs_known"].text, {"ids": encode([job.id])}).fetchall():
            return job.id  # the same insert, sent again after an unknown commit
        query = self._queries["job_by_key"].text
        rows = self.connection.execute(query, {"tenant": job.tenant, "operation": job.operation, "key": job.key}).fetchall()
        return str(rows[0][0])

    def _place(self, lane: tuple[str, int, str]) -> Place:
        bindings = dict(zip(("queue", "priority", "lane"), lane, strict=True))
        [row] = self.connection.execute(self._queries["place"].text, bindings).fetchall()
        return Place(*cast(tuple[float, float, float, int], row))


@dataclass(slots=True)
class Place:
    """Where the next job of a lane goes; `tail` moves on with each that does."""

    floor: float
    tail: float
    weight: float
    gate: int

    def of(self, job: NewJob, *, scheduled: bool = False) -> tuple[float, bool, bool, str | None]:
        """Its pass, and whether it is ready or parked; else it is scheduled. The reason says which."""
        if scheduled:
            return NO_PLACE, False, False, "scheduled"
        if shut(self.gate, job.parent_id):
            return NO_PLACE, False, True, "capped"
        return fairness.stamp(self.floor, self.tail, job.cost, self.weight), True, False, None


def _due(job: NewJob, now: float) -> float | None:
    run_at = job.run_at.timestamp() if job.run_at else now + job.delay if job.delay else None
    return run_at if run_at is not None and run_at > now else None


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
