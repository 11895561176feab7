"""A PostgreSQL transaction on one asyncpg connection."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import asyncpg

from towpath.core.encoding import encode
from towpath.core.lifecycle import State
from towpath.core.points import reach
from towpath.core.records import JOB_COLUMNS, Enqueued, Event, Job, NewJob, column
from towpath.store.alike import alike
from towpath.store.contract import Row
from towpath.store.sql import Queries

_STATE = JOB_COLUMNS.index("state")
_WIDTH = len(JOB_COLUMNS)
_BACK = re.compile(r"\s*rollback\b", re.IGNORECASE)
_STATES = {state.value: state for state in State}

_TYPES = {
    "priority": "smallint", "gate": "smallint", "cost": "float8", "pass": "float8", "parent_id": "uuid",
    "root_id": "uuid", "ready": "boolean", "parked": "boolean", "leased": "boolean", "closing": "boolean",
    "run_at": "timestamptz", "deadline": "timestamptz", "lease_until": "timestamptz", "created_at": "timestamptz",
    "started_at": "timestamptz", "finished_at": "timestamptz", "attempt": "int", "failures": "int",
    "retry_laters": "int", "max_attempts": "int", "wakes": "int", "seq": "int", "steps": "int", "payload": "json",
    "result": "json", "error": "json", "progress_current": "float8", "progress_total": "float8",
    "children_total": "int", "children_ok": "int", "children_partial": "int", "children_bad": "int",
    "await_open": "int",
}  # fmt: skip


def job_from(row: Sequence[Any]) -> Job:
    values = list(row)
    values[_STATE] = _STATES[values[_STATE]]
    return Job(*values)


@lru_cache(maxsize=512)
def _update(fields: tuple[str, ...]) -> str:
    """One statement for all rows that change in the same columns, guarded by what the rows were."""
    columns = [column(name) for name in fields]
    arrays = ", ".join(f"${number}::{_TYPES.get(name, 'text')}[]" for number, name in enumerate(columns, 4))
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
        self.told = False
        self._guest: bool | None = guest  # whose statements are planned for just now; see `_plan_for`
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

    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]:
        await self._plan_for(guest=True)
        rows: Sequence[Row] = await self.connection.fetch(sql, *params)
        return rows

    async def execute_sql(self, sql: str, *params: Any) -> int:
        if _BACK.match(sql):  # to a savepoint: what has been set since is taken back too, and before that nothing can be set
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
        self.told = True
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
        if len(jobs) > 1 and alike(jobs):
            return await self._insert_alike(jobs)
        if len(jobs) > 1:
            await self.connection.execute(lock_lanes(jobs))
            await reach("enqueue.locked")
        return await self.insert_locked(jobs)

    async def insert_locked(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        rows = await self.fetch("insert_jobs", **columns_of(jobs))
        return await self.finish_insert(jobs, rows)

    async def _insert_alike(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        [row] = await self.fetch("insert_alike", **alike_values(jobs, again=True))
        return self.inserted_alike(jobs, row["shut"]) or await self.finish_insert(jobs, [])

    def inserted_alike(self, jobs: Sequence[NewJob], shut: bool | None) -> list[Enqueued]:
        """What came of it; nothing if they are there already."""
        if shut is None:
            return []
        self.told = True
        if shut:
            self.gates.add((jobs[0].queue, jobs[0].lane))
        else:
            self.rings.add(jobs[0].queue)
        return [Enqueued(job.id, True) for job in jobs]

    async def finish_insert(self, jobs: Sequence[NewJob], rows: Sequence[Row]) -> list[Enqueued]:
        self.told = True
        self.rings.update(row["queue"] for row in rows if row["ready"])
        self.gates.update((row["queue"], row["lane"]) for row in rows if row["parked"])
        if len(rows) == len(jobs):
            return [Enqueued(job.id, created=True) for job in jobs]
        added = {str(row["id"]) for row in rows}
        return [Enqueued(job.id, True) if job.id in added else await self._holder(job) for job in jobs]

    async def _holder(self, job: NewJob) -> Enqueued:
        if await self.fetch("jobs_by_id", ids=[job.id]):
            return Enqueued(job.id, created=False)  # the same insert, sent again after an unknown commit
        found = await self.fetch("job_by_key", tenant=job.tenant, operation=job.operation, key=job.key)
        if found:
            return Enqueued(str(found[0]["id"]), created=False)
        # Its holder ended between the two statements: the key is free again.
        return (await self.insert_jobs([job]))[0]


def lock_lanes(jobs: Sequence[NewJob]) -> str:
    """Parallel bulk inserts into one lane would all stamp from the same tail: they take turns instead. Its own statement,
    before the insert, so that the insert sees what the one before it has committed."""
    lanes = {(job.queue, job.priority, job.lane) for job in jobs}
    hashes = sorted(_hash(*lane) for lane in lanes)
    return f"SELECT pg_advisory_xact_lock(hash) FROM unnest('{{{','.join(map(str, hashes))}}}'::bigint[]) AS hash"


def columns_of(jobs: Sequence[NewJob]) -> dict[str, list[Any]]:
    return {
        "ids": [job.id for job in jobs],
        "queues": [job.queue for job in jobs],
        "operations": [job.operation for job in jobs],
        "tenants": [job.tenant for job in jobs],
        "lanes": [job.lane for job in jobs],
        "priorities": [job.priority for job in jobs],
        "costs": [job.cost for job in jobs],
        "max_attempts": [job.max_attempts for job in jobs],
        "payloads": [job.payload_json for job in jobs],
        "run_ats": sparse([job.run_at for job in jobs]),
        "delays": sparse([job.delay for job in jobs]),
        "keys": sparse([job.key for job in jobs]),
        "parents": sparse([job.parent_id for job in jobs]),
        "roots": sparse([job.root_id for job in jobs]),
        "groups": sparse([job.child_group for job in jobs]),
        "traces": sparse([job.trace for job in jobs]),
    }


def column_values(job: NewJob) -> dict[str, Any]:
    return {
        "id": job.id,
        "queue": job.queue,
        "operation": job.operation,
        "tenant": job.tenant,
        "lane": job.lane,
        "priority": job.priority,
        "cost": job.cost,
        "max_attempts": job.max_attempts,
        "payload": job.payload_json,
        "run_at": job.run_at,
        "delay": job.delay,
        "key": job.key,
        "parent": job.parent_id,
        "root": job.root_id,
        "group": job.child_group,
        "trace": job.trace,
    }


def alike_values(jobs: Sequence[NewJob], *, again: bool) -> dict[str, Any]:
    first = jobs[0]
    ids, payloads = ",".join([job.id for job in jobs]), [job.payload_json for job in jobs]
    lock = _hash(first.queue, first.priority, first.lane)
    return column_values(first) | {"ids": ids, "payloads": payloads, "lock": lock, "again": again}


def sparse(values: list[Any]) -> list[Any]:
    """unnest() pads shorter arrays with NULL, so a column nobody uses is not sent at all."""
    return values if any(value is not None for value in values) else []


@lru_cache(maxsize=4096)  # the same few lanes come by a million times
def _hash(queue: str, priority: int, lane: str) -> int:
    name = f"{queue}\x1f{priority}\x1f{lane}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)


def _count(status: str) -> int:
    last = status.rsplit(" ", 1)[-1]
    return int(last) if last.isdigit() else 0
