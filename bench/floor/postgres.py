"""The floor on PostgreSQL: asyncpg, one connection per process, one statement per batch."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg
from asyncpg.pgproto.pgproto import UUID

from bench.contender import EventLoop, Payload, Sink
from bench.floor.ids import uuid7

_SCHEMA = Path(__file__).with_name("postgres.sql")

ENQUEUE = """
WITH created AS (
    INSERT INTO job (id, queue, pass, payload)
    SELECT id, 'bench', pass, payload::json FROM unnest($1::uuid[], $2::float8[], $3::text[]) AS new (id, pass, payload)
    RETURNING id)
INSERT INTO event (job_id, seq, type) SELECT id, 1, 'job.created' FROM created
"""

_CLAIMED = """
    UPDATE job SET state = 'running', ready = false, attempt = attempt + 1, seq = seq + 1,
                   lease_until = now() + interval '30 seconds', started_at = now()
    WHERE id = ANY (ARRAY (
        SELECT id FROM job WHERE queue = 'bench' AND band = 1 AND ready AND pass >= $1
        ORDER BY pass, id LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING id, attempt, seq, pass, payload
"""

_FINISHED = """
    UPDATE job SET state = 'succeeded', seq = seq + 1, lease_until = NULL, ended_at = now(), result = done.result::json
    FROM unnest({ids}::uuid[], {attempts}::integer[], {results}::text[]) AS done (id, attempt, result)
    WHERE job.id = done.id AND job.attempt = done.attempt AND job.state = 'running'
    RETURNING job.id, job.seq
"""

CLAIM = f"""
WITH claimed AS ({_CLAIMED}),
     noted AS (INSERT INTO event (job_id, seq, type) SELECT id, seq, 'job.started' FROM claimed)
SELECT id, attempt, pass, payload FROM claimed
"""

FINISH = f"""
WITH finished AS ({_FINISHED.format(ids="$1", attempts="$2", results="$3")})
INSERT INTO event (job_id, seq, type) SELECT id, seq, 'job.succeeded' FROM finished
"""

FINISH_AND_CLAIM = f"""
WITH finished AS ({_FINISHED.format(ids="$3", attempts="$4", results="$5")}),
     claimed AS ({_CLAIMED}),
     noted AS (INSERT INTO event (job_id, seq, type)
               SELECT id, seq, 'job.succeeded' FROM finished UNION ALL SELECT id, seq, 'job.started' FROM claimed)
SELECT id, attempt, pass, payload FROM claimed
"""


async def connect(url: str) -> Any:
    return await asyncpg.connect(url, server_settings={"plan_cache_mode": "force_generic_plan"})


@dataclass(frozen=True)
class PostgresFloor:
    """`fused` finishes one batch and claims the next in a single statement; otherwise each has its own commit."""

    fused: bool = True
    event_loop: EventLoop = "asyncio"
    unfinished: str = "SELECT EXISTS (SELECT FROM job WHERE state <> 'succeeded')"

    @property
    def name(self) -> str:
        return "floor" if self.fused else "floor_two_commits"

    def pace(self, batch: int) -> int:
        return {1: 2_000, 10: 15_000}.get(batch, 40_000)

    async def install(self, url: str) -> None:
        connection = await connect(url)
        await connection.execute(_SCHEMA.read_text())
        await connection.close()

    @asynccontextmanager
    async def producer(self, url: str) -> AsyncIterator["_Producer"]:
        connection = await connect(url)
        yield _Producer(connection)
        await connection.close()

    @asynccontextmanager
    async def claims(self, url: str) -> AsyncIterator["_Claims"]:
        connection = await connect(url)
        first = await connection.fetchval("SELECT coalesce(max(pass), 0)::bigint + 1 FROM job")
        yield _Claims(connection, first)
        await connection.close()

    async def work(self, url: str, batch: int, sink: Sink) -> None:
        connection = await connect(url)
        cursor = 0.0
        rows: list[Any] = []
        while True:
            if self.fused:
                rows = await connection.fetch(FINISH_AND_CLAIM, cursor, batch, *_outcomes(rows))
            else:
                if rows:
                    await connection.execute(FINISH, *_outcomes(rows))
                rows = await connection.fetch(CLAIM, cursor, batch)
            for row in rows:
                sink(row["payload"])
            if rows:
                cursor = min(row["pass"] for row in rows)
            else:
                await asyncio.sleep(0.005)


class _Producer:
    def __init__(self, connection: Any, first: int = 1) -> None:
        self._connection = connection
        self._passes = count(first)

    async def one(self, payload: Payload) -> None:
        await self.many([payload])

    async def many(self, payloads: Sequence[Payload]) -> None:
        await self._connection.execute(
            ENQUEUE,
            [UUID(uuid7()) for _ in payloads],
            [float(next(self._passes)) for _ in payloads],
            [json.dumps(payload) for payload in payloads],
        )


class _Claims:
    """Plain first in, first out: tenants make no difference to the floor."""

    def __init__(self, connection: Any, first: int) -> None:
        self._connection = connection
        self._producer = _Producer(connection, first)
        self._cursor = 0.0

    async def load(self, tenants: list[str]) -> None:
        await self._producer.many([{"tenant": tenant} for tenant in tenants])

    async def claim(self, limit: int) -> list[Any]:
        rows: list[Any] = await self._connection.fetch(CLAIM, self._cursor, limit)
        self._cursor = min(row["pass"] for row in rows)
        return rows

    async def finish(self, claimed: list[Any]) -> None:
        await self._connection.execute(FINISH, *_outcomes(claimed))


def _outcomes(rows: Sequence[Any]) -> tuple[list[Any], list[int], list[str]]:
    return [row["id"] for row in rows], [row["attempt"] for row in rows], ["{}"] * len(rows)
