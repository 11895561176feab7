"""A PostgreSQL transaction on one asyncpg connection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import asyncpg

from towpath.core.encoding import encode
from towpath.core.failpoints import reach
from towpath.core.lifecycle import State
from towpath.core.records import JOB_COLUMNS, Enqueued, Event, Job, NewJob, column
from towpath.store.columns import POSTGRES_TYPES
from towpath.store.contract import Row
from towpath.store.postgres import inserting
from towpath.store.sql import Queries

_STATE = JOB_COLUMNS.index("state")
_WIDTH = len(JOB_COLUMNS)
_ROLLBACK = re.compile(r"\s*rollback\b", re.IGNORECASE)
_STATES = {state.value: state for state in State}


def job_from(row: Sequence[Any]) -> Job:
    values = list(row)
    values[_STATE] = _STATES[values[_STATE]]
    return Job(*values)


@lru_cache(maxsize=512)
def _update(fields: tuple[str, ...]) -> str:
    """One statement for all rows that change in the same columns, guarded by what the rows were."""
    columns = [column(name) for name in fields]
    arrays = ", ".join(f"${number}::{POSTGRES_TYPES[name]}[]" for number, name in enumerate(columns, 4))
    assignments = ", ".join(f"{name} = new.{name}" for name in columns)
    return (
        f"UPDATE towpath.job AS job SET {assignments} "
        f"FROM unnest($1::uuid[], $2::text[], $3::int[], {arrays}) "
        f"AS new (id, old_state, old_attempt, {', '.join(columns)}) "
        f"WHERE job.id = ANY (ARRAY[new.id]) AND job.state = new.old_state AND job.attempt = new.old_attempt"
    )


class PostgresTx:
    dialect = "postgres"

    def __init__(self, connection: Any, queries: Queries, now: datetime, *, guest: bool = False) -> None:
        self.connection: asyncpg.Connection[Any] = connection
        self._queries = queries
        self.now = now
        self.rings: set[str] = set()
        self.cancelled: list[str] = []
        # Capped lanes that got jobs. Their gates open after the commit: a gate locks its lane's row, and a caller's own
        # transaction must not hold that against everybody who wants to settle a job of the lane.
        self.gates: set[tuple[str, str]] = set()
        self.wake_streams = False
        # Whether the planner's settings are those for guests just now; None if that is not known. See `_plan_for`.
        self._guest: bool | None = guest
        self._receipt: tuple[str, int, str] | None = None  # job, seq and transaction of the first event it wrote

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]:
        found = self._queries[query]
        await self._plan_for(guest=not found.own)
        rows: Sequence[Row] = await self.connection.fetch(found.text, *(params[key] for key in found.names))
        if found.locks and rows:
            self.now = max(self.now, rows[-1]["locked_at"])
        return rows

    async def execute(self, query: str, /, **params: Any) -> int:
        found = self._queries[query]
        await self._plan_for(guest=not found.own)
        return _count(await self.connection.execute(found.text, *(params[key] for key in found.names)))

    async def execute_many(self, query: str, rows: Sequence[dict[str, Any]]) -> None:
        found = self._queries[query]
        await self._plan_for(guest=not found.own)
        await self.connection.executemany(found.text, [[row[key] for key in found.names] for row in rows])

    async def execute_all(self, queries: tuple[str, ...], /, **params: Any) -> None:
        found = self._queries.together(queries)
        await self._plan_for(guest=not found.own)
        await self.connection.execute(found.text, *(params[key] for key in found.names))

    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]:
        await self._plan_for(guest=True)
        rows: Sequence[Row] = await self.connection.fetch(sql, *params)
        return rows

    async def execute_sql(self, sql: str, *params: Any) -> int:
        if _ROLLBACK.match(sql):
            # To a savepoint. Perhaps out of an error, in which the server takes no other statement, so no setting can be
            # made before it. And settings that were made since the savepoint are taken back, so it is not known which holds.
            self._guest = None
        else:
            await self._plan_for(guest=True)
        return _count(await self.connection.execute(sql, *params))

    async def _plan_for(self, *, guest: bool) -> None:
        """Guests are slices and callers. Their statements may be better off with reading a whole table, which ours never
        are; and a plan is kept with its connection, so each is always made under the same settings."""
        if self._guest is not guest:
            await self.connection.execute(f"SET LOCAL enable_seqscan = {'on' if guest else 'off'}")
            self._guest = guest

    async def jobs(self, query: str, /, **params: Any) -> list[Job]:
        rows = await self.fetch(query, **params)
        return [job_from(tuple(row.values())[:_WIDTH]) for row in rows]

    async def write_jobs(self, changes: list[tuple[Job, Job, list[str]]]) -> None:
        alike: dict[tuple[str, ...], list[tuple[Job, Job]]] = {}
        for before, after, fields in changes:
            alike.setdefault(tuple(fields), []).append((before, after))
        for names, rows in alike.items():
            arrays = [[getattr(after, name) for _, after in rows] for name in names]
            await self._plan_for(guest=False)
            guards = ([b.id for b, _ in rows], [b.state.value for b, _ in rows], [b.attempt for b, _ in rows])
            written = _count(await self.connection.execute(_update(names), *guards, *arrays))
            if written != len(rows):
                raise RuntimeError(f"{len(rows) - written} of {len(rows)} jobs changed inside their own transaction")

    async def insert_events(self, events: Sequence[Event]) -> None:
        if not events:
            return
        self.wake_streams = True
        [row] = await self.fetch(
            "insert_events",
            ids=[e.job_id for e in events],
            seqs=[e.seq for e in events],
            attempts=[e.attempt for e in events],
            names=[e.name for e in events],
            levels=[e.level for e in events],
            messages=[e.message for e in events],
            fields=[encode(e.fields) if e.fields else None for e in events],
            times=[e.ts for e in events],
        )
        self._receipt = self._receipt or (events[0].job_id, events[0].seq, row["xid"])

    async def came_through(self, connection: Any) -> bool:
        """Asked on another connection after the answer to the commit was lost: whether what it wrote is there."""
        if self._receipt is None:
            return False
        job_id, seq, xid = self._receipt
        asked = PostgresTx(connection, self._queries, self.now)
        return bool(await asked.fetch("event_of", job_id=job_id, seq=seq, xid=xid))

    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Stamps and inserts. A key that a live job holds gives that job instead."""
        if len(jobs) == 1:
            return await self.finish_insert(jobs, await self.fetch("insert_one", **inserting.one(jobs[0])))
        apart = len(lanes := inserting.lanes_of(jobs)) > 1
        if apart:  # held apart from the insert, so that a test can come between
            await self.fetch("lock_lanes", locks=inserting.lane_locks(lanes))
            await reach("enqueue.locked")
        rows = await self.fetch("insert_jobs", **inserting.many(jobs, lock=not apart))
        return await self.finish_insert(jobs, rows)

    async def finish_insert(self, jobs: Sequence[NewJob], rows: Sequence[Row]) -> list[Enqueued]:
        """From what the inserting statements answer: which lanes got what."""
        self.inserted(rows)
        if rows and all(row["added"] is None for row in rows):
            return [Enqueued(job.id, True) for job in jobs]
        added = {str(job_id) for row in rows for job_id in row["added"]}
        return [Enqueued(job.id, True) if job.id in added else await self._holder(job) for job in jobs]

    def inserted(self, rows: Sequence[Row]) -> None:
        self.wake_streams = True
        self.rings.update(row["queue"] for row in rows if row["ready"])
        self.gates.update((row["queue"], row["lane"]) for row in rows if row["parked"])

    async def _holder(self, job: NewJob) -> Enqueued:
        if await self.fetch("jobs_by_id", ids=[job.id]):
            return Enqueued(job.id, created=False)  # the same insert, sent again after an unknown commit
        found = await self.fetch("job_by_key", tenant=job.tenant, operation=job.operation, key=job.key)
        if found:
            return Enqueued(str(found[0]["id"]), created=False)
        # Its holder ended between the two statements: the key is free again.
        return (await self.insert_jobs([job]))[0]


def sparse(values: list[Any]) -> list[Any]:
    """unnest() pads shorter arrays with NULL, so a column nobody uses is not sent at all."""
    return values if any(value is not None for value in values) else []


def _count(status: str) -> int:
    last = status.rsplit(" ", 1)[-1]
    return int(last) if last.isdigit() else 0
