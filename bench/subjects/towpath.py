"""Towpath with everything on: durable events, finished jobs kept, leases, heartbeats, fair order."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bench.contender import DatabaseKind, EventLoop, Payload, Sink
from bench.subjects.claiming import StoreClaims, open_store
from towpath import App, Context
from towpath.engine.running.slots import SPLIT_FROM

_QUEUE = "bench"
_OPERATION = "bench"


@dataclass(frozen=True)
class Towpath:
    database: DatabaseKind
    name: str = "towpath"
    event_loop: EventLoop = "uvloop"
    job_seconds: float = 0.0
    """How long a handler sleeps."""
    compute_seconds: float = 0.0
    """How long it keeps its core busy."""
    slots: int | None = None
    """Of a worker, if not as many as a batch needs."""

    @property
    def unfinished(self) -> str:
        table = "towpath.job" if self.database == "postgres" else "towpath_job"
        return f"SELECT EXISTS (SELECT 1 FROM {table} WHERE state <> 'succeeded')"

    def pace(self, batch: int) -> int:
        return {1: 1_500, 10: 10_000, 16: 10_000}.get(batch, 25_000)

    async def install(self, url: str) -> None:
        async with App(url):
            pass  # opening it applies the migrations

    @asynccontextmanager
    async def producer(self, url: str) -> AsyncIterator["_Producer"]:
        app = App(url)
        app.operation(_OPERATION, queue=_QUEUE)(_nothing)
        async with app:
            yield _Producer(app)

    @asynccontextmanager
    async def claims(self, url: str) -> AsyncIterator[StoreClaims]:
        async with open_store(url) as store:
            yield StoreClaims(store)

    async def work(self, url: str, batch: int, sink: Sink) -> None:
        app = App(url)

        @app.operation(_OPERATION, queue=_QUEUE)
        async def handle(ctx: Context, payload: dict[str, Any]) -> None:
            sink(payload)
            if self.compute_seconds:
                _compute(self.compute_seconds)
            if self.job_seconds:
                await asyncio.sleep(self.job_seconds)

        async with app:
            # A worker with many slots claims half of them at a time, so the claims and settles are `batch` jobs each.
            slots = self.slots or (2 * batch if 2 * batch >= SPLIT_FROM else batch)
            await app.run_worker(queues=[_QUEUE], concurrency=slots)


def _compute(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


async def _nothing(ctx: Context, payload: dict[str, Any]) -> None:
    """A producer only needs the name to be known."""


@dataclass(frozen=True)
class _Producer:
    app: App

    async def one(self, payload: Payload) -> None:
        await self.app.enqueue(_OPERATION, payload)

    async def many(self, payloads: Sequence[Payload]) -> None:
        await self.app.enqueue_many([_job(payload) for payload in payloads])


def _job(payload: Payload) -> dict[str, Any]:
    if "tenant" in payload:
        return {"operation": _OPERATION, "payload": payload, "tenant": payload["tenant"]}
    return {"operation": _OPERATION, "payload": payload}
