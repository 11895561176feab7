"""A SQLite transaction. Its methods are coroutines that never suspend, so a unit runs straight through in one thread."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Any, TypeVar, cast

import apsw

from towpath.core import fairness
from towpath.core.encoding import encode
from towpath.core.lifecycle import State
from towpath.core.records import JOB_COLUMNS, JOB_FIELDS, Enqueued, Event, Job, NewJob, column
from towpath.core.tally import tally_new
from towpath.store.alike import alike
from towpath.store.contract import Row
from towpath.store.sql import Queries
from towpath.store.sqlite import bulk

T = TypeVar("T")

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
    ]
)
_BOOLS = frozenset({"ready", "parked", "leased", "closing"})
_JOB_TIMES = tuple(index for index, name in enumerate(JOB_COLUMNS) if name in _TIMES)
_JOB_BOOLS = tuple(index for index, name in enumerate(JOB_COLUMNS) if name in _BOOLS)
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


def moment(value: float | None) -> datetime | None:
    return None if value is None else datetime.fromtimestamp(value, UTC)


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


_INSERT_EVENT = (
    "INSERT INTO towpath_event (job_id, seq, attempt, name, level, message, fields, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
# Where a lane's next job is placed from, the lane's weight, and what its gate counts.
_TAIL = """
SELECT coalesce((SELECT pass FROM towpath_job
                 WHERE queue = ?1 AND priority = ?2 AND lane = ?3 AND ready AND pass >= place.floor
                 ORDER BY pass DESC LIMIT 1), place.floor),
       coalesce(lane.weight, 1.0),
       CASE WHEN lane.max_slots IS NOT NULL THEN 1 WHEN lane.max_roots IS NOT NULL THEN 2 ELSE 0 END
FROM (SELECT coalesce((SELECT floor FROM towpath_clock WHERE queue = ?1 AND priority = ?2), 0.0) AS floor) AS place
LEFT JOIN towpath_lane AS lane ON lane.queue = ?1 AND lane.lane = ?3
"""
_INSERT_JOB = (
    "INSERT INTO towpath_job (id, queue, operation, tenant, lane, priority, cost, pass, parent_id, root_id, child_group,"
    " key, live_key, ready, gate, parked, reason, run_at, due_at, max_attempts, payload, trace, created_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_TALLY_NEW = "INSERT INTO towpath_tally (queue, operation, created, queued, at) VALUES (?, ?, ?, ?, ?)"
_OWNED = "INSERT INTO towpath_owned (tenant, id) VALUES (?, ?)"


class SqliteTx:
    dialect = "sqlite"

    def __init__(self, connection: apsw.Connection, queries: Queries, now: datetime) -> None:
        self.connection = connection
        self._queries = queries
        self.now = now
        self.rings: set[str] = set()
        self.cancelled: list[str] = []
        self.told = False  # every commit wakes the streams here

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]:
        return self._rows(self._queries[query].text, _bindings(params))

    async def execute(self, query: str, /, **params: Any) -> int:
        self.connection.execute(self._queries[query].text, _bindings(params))
        return self.connection.changes()

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
        self.connection.executemany(
            _INSERT_EVENT,
            (
                (e.job_id, e.seq, e.attempt, e.name, e.level, e.message, encode(e.fields) if e.fields else None, e.ts)
                for e in events
            ),
        )

    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Stamps and inserts. A key that a live job holds gives that job instead."""
        if len(jobs) > 1 and alike(jobs):
            made = await self._insert_alike(jobs)
            if made is not None:
                return made
        connection, now = self.connection, self.now.timestamp()
        tails: dict[tuple[str, int, str], tuple[float, float, int]] = {}
        outcome: list[Enqueued] = []
        gated: set[tuple[str, str]] = set()
        added: list[NewJob] = []
        for job in jobs:
            lane = (job.queue, job.priority, job.lane)
            if lane not in tails:
                tails[lane] = self._tail(lane)
            tail, weight, gate = tails[lane]
            run_at = _due(job, now)
            scheduled = run_at is not None
            parked = not scheduled and (gate == 1 or (gate == 2 and job.parent_id is None))
            ready = not scheduled and not parked
            pass_ = fairness.stamp(tail, tail, job.cost, weight) if ready else 0.0
            reason = "scheduled" if scheduled else "capped" if parked else None
            connection.execute(
                _INSERT_JOB,
                (
                    job.id, job.queue, job.operation, job.tenant, job.lane, job.priority, job.cost, pass_,
                    job.parent_id, job.root_id or job.id, job.child_group, job.key, job.key, ready, gate, parked, reason,
                    run_at, run_at, job.max_attempts, job.payload_json, job.trace, now,
                ),
            )  # fmt: skip
            if connection.changes() == 0:
                outcome.append(Enqueued(self._holder(job), created=False))
                continue
            outcome.append(Enqueued(job.id, created=True))
            added.append(job)
            if ready:
                tails[lane] = (pass_, weight, gate)
                self.rings.add(job.queue)
            elif parked:
                gated.add((job.queue, job.lane))
        connection.executemany(_OWNED, [(job.tenant, job.id) for job in added])
        for queue in dict.fromkeys(job.queue for job in added):
            bulk.tell_created(connection, queue, [job.id for job in added if job.queue == queue], now)
        for counts in tally_new((job.queue, job.operation) for job in added):
            connection.execute(_TALLY_NEW, (counts.queue, counts.operation, counts.created, counts.queued, now))
        for queue, name in sorted(gated):
            from towpath.store.ledger import gate as open_gate

            await open_gate(self, queue, name)
        return outcome

    async def _insert_alike(self, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
        """All of them in a few statements; None if they are here already."""
        first, now = jobs[0], self.now.timestamp()
        tail, weight, gate = self._tail((first.queue, first.priority, first.lane))
        parked = gate == 1 or (gate == 2 and first.parent_id is None)
        step = 0.0 if parked else first.cost / weight
        passes = accumulate(repeat(step, len(jobs) - 1), initial=0.0 if parked else tail + step)
        common = (
            first.root_id, first.queue, first.operation, first.tenant, first.lane, first.priority, first.cost,
            first.parent_id, first.child_group, not parked, gate, parked, "capped" if parked else None,
            first.max_attempts, first.trace, now,
        )  # fmt: skip
        rows = [(job.id, place, job.payload_json) for job, place in zip(jobs, passes, strict=True)]
        if not bulk.insert_alike(self.connection, common, rows, tenant=first.tenant, queue=first.queue, now=now):
            return None
        self.connection.execute(_TALLY_NEW, (first.queue, first.operation, len(jobs), len(jobs), now))
        if parked:
            from towpath.store.ledger import gate as open_gate

            await open_gate(self, first.queue, first.lane)
        else:
            self.rings.add(first.queue)
        return [Enqueued(job.id, created=True) for job in jobs]

    def _holder(self, job: NewJob) -> str:
        found = self.connection.execute("SELECT 1 FROM towpath_job WHERE id = ?", (job.id,)).fetchall()
        if found:
            return job.id  # the same insert, sent again after an unknown commit
        query = self._queries["job_by_key"].text
        rows = self.connection.execute(query, {"tenant": job.tenant, "operation": job.operation, "key": job.key}).fetchall()
        return str(rows[0][0])

    def _tail(self, lane: tuple[str, int, str]) -> tuple[float, float, int]:
        return cast(tuple[float, float, int], self.connection.execute(_TAIL, lane).fetchall()[0])


def _due(job: NewJob, now: float) -> float | None:
    run_at = job.run_at.timestamp() if job.run_at else now + job.delay if job.delay else None
    return run_at if run_at is not None and run_at > now else None


def _stored(value: Any) -> Any:
    return value.value if isinstance(value, State) else value


def _bindings(params: dict[str, Any]) -> dict[str, Any]:
    for name, value in params.items():
        if isinstance(value, list | tuple | set):
            params[name] = encode(list(value))
    return params


assert JOB_FIELDS[0] == "id"
