"""Procrastinate: the psycopg connector, concurrent jobs in one process. Finished jobs and their events stay."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from procrastinate import App, PsycopgConnector

from bench.contender import EventLoop, Payload, Sink


@dataclass(frozen=True)
class ProcrastinatePeer:
    name: str = "procrastinate"
    event_loop: EventLoop = "asyncio"
    unfinished: str = "SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing'))"

    def pace(self, batch: int) -> int:
        return 500

    async def install(self, url: str) -> None:
        async with _app(url).open_async() as app:
            await app.schema_manager.apply_schema_async()

    @asynccontextmanager
    async def producer(self, url: str) -> AsyncIterator["_Producer"]:
        async with _app(url).open_async() as app:
            yield _Producer(app.configure_task("bench", queue="bench"))

    async def work(self, url: str, batch: int, sink: Sink) -> None:
        app = _app(url)

        @app.task(name="bench", queue="bench")
        async def handle(**payload: Any) -> None:
            sink(payload)

        async with app.open_async():
            await app.run_worker_async(queues=["bench"], concurrency=batch, install_signal_handlers=False)


@dataclass(frozen=True)
class _Producer:
    task: Any

    async def one(self, payload: Payload) -> None:
        await self.task.defer_async(**payload)

    async def many(self, payloads: Sequence[Payload]) -> None:
        await self.task.batch_defer_async(*payloads)


def _app(url: str) -> App:
    return App(connector=PsycopgConnector(conninfo=url))
