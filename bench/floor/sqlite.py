"""The floor on SQLite: apsw, WAL, synchronous FULL, one transaction per batch."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from bench.contender import EventLoop, Payload, Sink
from bench.databases import sqlite_path
from bench.floor.ids import uuid7

_SCHEMA = Path(__file__).with_name("sqlite.sql")

INSERT = "INSERT INTO job (id, queue, pass, payload, created_at) VALUES (?, 'bench', ?, ?, ?)"

# Reading the batch and updating row by row through one prepared statement beats UPDATE … RETURNING by a sixth.
READY = """
SELECT rowid, id, attempt + 1, seq + 1, pass, payload FROM job
WHERE queue = 'bench' AND band = 1 AND ready AND pass >= ? ORDER BY pass, id LIMIT ?
"""

CLAIM = """
UPDATE job SET state = 'running', ready = 0, attempt = ?2, seq = ?3, lease_until = ?4 + 30, started_at = ?4
WHERE rowid = ?1
"""

FINISH = """
UPDATE job SET state = 'succeeded', seq = seq + 1, lease_until = NULL, ended_at = ?3, result = '{}'
WHERE rowid = ?1 AND attempt = ?2 AND state = 'running'
"""

EVENT = "INSERT INTO event (job_id, seq, type, at) VALUES (?, ?, ?, ?)"


# rowid, id, attempt, seq, pass, payload: in the order of READY.
Claimed = tuple[int, bytes, int, int, float, str]


def connect(url: str) -> apsw.Connection:
    connection = apsw.Connection(str(sqlite_path(url)))
    connection.set_busy_timeout(60_000)
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    return connection


@dataclass(frozen=True)
class SqliteFloor:
    """`fused` finishes one batch and claims the next in a single transaction; otherwise each has its own commit."""

    fused: bool = True
    event_loop: EventLoop = "asyncio"
    unfinished: str = "SELECT EXISTS (SELECT 1 FROM job WHERE state <> 'succeeded')"

    @property
    def name(self) -> str:
        return "floor" if self.fused else "floor_two_commits"

    def pace(self, batch: int) -> int:
        return {1: 4_000, 10: 30_000}.get(batch, 80_000)

    async def install(self, url: str) -> None:
        connect(url).execute(_SCHEMA.read_text())

    @asynccontextmanager
    async def producer(self, url: str) -> AsyncIterator["_Producer"]:
        yield _Producer(connect(url))

    @asynccontextmanager
    async def claims(self, url: str) -> AsyncIterator["_Claims"]:
        connection = connect(url)
        first = connection.execute("SELECT CAST(coalesce(max(pass), 0) AS INTEGER) + 1 FROM job").get
        yield _Claims(connection, first)

    async def work(self, url: str, batch: int, sink: Sink) -> None:
        connection = connect(url)
        cursor = 0.0
        rows: list[Claimed] = []
        while True:
            connection.execute("BEGIN IMMEDIATE")
            if rows:
                finish(connection, rows)
                if not self.fused:
                    connection.execute("COMMIT; BEGIN IMMEDIATE")
            rows = claim(connection, cursor, batch)
            connection.execute("COMMIT")
            for row in rows:
                sink(row[5])
            if rows:
                cursor = min(row[4] for row in rows)
            # The statements above block: this is where a stop is noticed.
            await asyncio.sleep(0 if rows else 0.005)


def claim(connection: apsw.Connection, cursor: float, batch: int) -> list[Claimed]:
    rows: list[Any] = connection.execute(READY, (cursor, batch)).fetchall()
    now = time.time()
    connection.executemany(CLAIM, [(row[0], row[2], row[3], now) for row in rows])
    connection.executemany(EVENT, [(row[1], row[3], "job.started", now) for row in rows])
    return rows


def finish(connection: apsw.Connection, rows: Sequence[Claimed]) -> None:
    now = time.time()
    connection.executemany(FINISH, [(row[0], row[2], now) for row in rows])
    connection.executemany(EVENT, [(row[1], row[3] + 1, "job.succeeded", now) for row in rows])


class _Producer:
    def __init__(self, connection: apsw.Connection, first: int = 1) -> None:
        self._connection = connection
        self._passes = count(first)

    async def one(self, payload: Payload) -> None:
        await self.many([payload])

    async def many(self, payloads: Sequence[Payload]) -> None:
        now = time.time()
        jobs = [(uuid7(), float(next(self._passes)), json.dumps(payload), now) for payload in payloads]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(INSERT, jobs)
        self._connection.executemany(EVENT, [(job[0], 1, "job.created", now) for job in jobs])
        self._connection.execute("COMMIT")


class _Claims:
    """Plain first in, first out: tenants make no difference to the floor."""

    def __init__(self, connection: apsw.Connection, first: int) -> None:
        self._connection = connection
        self._producer = _Producer(connection, first)
        self._cursor = 0.0

    async def load(self, tenants: list[str]) -> None:
        await self._producer.many([{"tenant": tenant} for tenant in tenants])

    async def claim(self, limit: int) -> list[Claimed]:
        self._connection.execute("BEGIN IMMEDIATE")
        rows = claim(self._connection, self._cursor, limit)
        self._connection.execute("COMMIT")
        self._cursor = min(row[4] for row in rows)
        return rows

    async def finish(self, claimed: list[Claimed]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        finish(self._connection, claimed)
        self._connection.execute("COMMIT")
