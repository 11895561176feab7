"""PgQueuer: the driver, the autovacuum settings and the event loop that its tuning guide and command line use.

It deletes finished jobs and keeps one log row per change of status, both by default.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from bench.contender import EventLoop, Payload, Sink

# Best of 100, 300 and 1,000 for jobs that do nothing.
_BATCH = 300


@dataclass(frozen=True)
class PgQueuerPeer:
    name: str = "pgqueuer"
    event_loop: EventLoop = "uvloop"
    unfinished: str = "SELECT EXISTS (SELECT FROM pgqueuer)"
    job_seconds: float = 0.0
    """How long a handler takes."""
    slots: int | None = None
    """How many jobs it takes at a time, if not as many as suit it best. It does not wait for them before it takes more."""
    keeps: bool = False
    """Whether no more than so many run at a time. It then takes half of them at once, which is the most it allows."""

    def pace(self, batch: int) -> int:
        return 10_000

    async def install(self, url: str) -> None:
        connection = await asyncpg.connect(url)
        queries = Queries(AsyncpgDriver(connection))
        await queries.install()
        await queries.optimize_autovacuum()
        await connection.close()

    @asynccontextmanager
    async def producer(self, url: str) -> AsyncIterator["_Producer"]:
        connection = await asyncpg.connect(url)
        yield _Producer(Queries(AsyncpgDriver(connection)))
        await connection.close()

    async def work(self, url: str, batch: int, sink: Sink) -> None:
        connection = await asyncpg.connect(url)
        queue = PgQueuer(AsyncpgDriver(connection))

        @queue.entrypoint("bench")
        async def handle(job: Job) -> None:
            sink(job.payload)
            if self.job_seconds:
                await asyncio.sleep(self.job_seconds)

        if self.slots and self.keeps:
            await queue.run(batch_size=self.slots // 2, max_concurrent_tasks=self.slots)
        else:
            await queue.run(batch_size=self.slots or _BATCH)


@dataclass(frozen=True)
class _Producer:
    queries: Queries

    async def one(self, payload: Payload) -> None:
        await self.queries.enqueue("bench", json.dumps(payload).encode())

    async def many(self, payloads: Sequence[Payload]) -> None:
        count = len(payloads)
        await self.queries.enqueue(["bench"] * count, [json.dumps(payload).encode() for payload in payloads], [0] * count)
