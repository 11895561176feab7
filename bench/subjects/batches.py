"""Batches as people run them: a worker process, and whoever sends a file of requests and waits until they are answered."""

import asyncio
import json
import multiprocessing
import os
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from bench.contender import DatabaseKind, EventLoop
from bench.databases import Databases
from bench.processes import ChildFailed, run_on
from tests.providers.streamed import StreamedProvider
from towpath import App, Settings, batches
from towpath.batches import intake, names, stored
from towpath.batches.intake import Owner, Wanted
from towpath.server import ServerOptions, attach, create_app

MODEL = TENANT = "bench"
_PATIENCE = 120.0
_LOOK_EVERY = 0.02
_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Batches:
    database: DatabaseKind
    name: str = "batches"
    event_loop: EventLoop = "uvloop"

    async def install(self, url: str) -> None:
        async with make_app(url, Path.cwd(), serving=True):
            pass  # opening it applies the migrations


@contextmanager
def place(databases: Databases) -> Iterator[tuple[str, Path]]:
    """A database and a directory of blobs."""
    url = databases.fresh(Batches(databases.kind))
    try:
        with TemporaryDirectory(prefix="towpath-bench-") as blobs:
            yield url, Path(blobs)
    finally:
        databases.drop(url)


def make_app(url: str, blobs: Path, *, chat: str = "", serving: bool = False) -> App:
    """`chat` is where LOCAL asks."""
    settings = Settings(blobs_url=blobs.as_uri(), chat_url=chat, chat_model=MODEL, poll_interval_seconds=1.0)
    app = App(url, settings=settings)
    app.provider(StreamedProvider.name, StreamedProvider)
    batches.attach(app)
    return attach(app) if serving else app


def serve(url: str, blobs: Path, port: int) -> None:
    api = create_app(make_app(url, blobs, serving=True), ServerOptions(ui=False))
    uvicorn.run(api, host="127.0.0.1", port=port, loop="uvloop", log_config=None)


def request(number: int) -> dict[str, object]:
    said = f"Question {number}: who sang of the miller, and what did the brook say to that? " * 2
    return {"custom_id": f"request-{number}", "body": {"messages": [{"role": "user", "content": said}], "max_tokens": 100}}


async def lines(count: int) -> AsyncIterator[bytes]:
    for number in range(count):
        yield json.dumps(request(number)).encode() + b"\n"


async def send(app: App, provider: str, source: AsyncIterator[bytes]) -> str:
    """Answers the id of the batch."""
    return (await intake.create(app, Wanted(provider, [MODEL], lines=source), Owner(TENANT)))[0]


async def answered(app: App, batch_id: str, count: int) -> None:
    """Until it has ended, with an answer to each of so many requests."""
    while True:
        [job] = [job for job in await app.list(operation=names.COMPLETE, limit=1) if job.subject_id == batch_id]
        if job.ended:
            batch = await stored.find(app, batch_id)
            if batch.ok != count:
                raise ChildFailed(f"{batch.ok} of {count} requests were answered: {job.error}")
            return
        await asyncio.sleep(_LOOK_EVERY)


@dataclass(frozen=True)
class Worker:
    pid: int
    _pipe: Connection

    def computed(self) -> float:
        """Seconds of a processor that it has used so far."""
        self._pipe.send("computed?")
        seconds: float = self._pipe.recv()
        return seconds


@contextmanager
def worker(url: str, blobs: Path, *, slots: int, chat: str = "") -> Iterator[Worker]:
    """A worker process that is ready."""
    ours, theirs = _spawn.Pipe()
    child = _spawn.Process(target=_work, args=(theirs, url, blobs, slots, chat), daemon=True)
    child.start()
    theirs.close()
    try:
        if not ours.poll(_PATIENCE):
            raise ChildFailed(f"a worker was not ready within {_PATIENCE:.0f} s")
        yield Worker(ours.recv(), ours)
    finally:
        child.kill()
        child.join()


def _work(pipe: Connection, url: str, blobs: Path, slots: int, chat: str) -> None:
    async def main() -> None:
        async with make_app(url, blobs, chat=chat) as app:
            asyncio.get_running_loop().add_reader(pipe.fileno(), _tell, pipe)
            pipe.send(os.getpid())
            await app.run_worker([names.QUEUE, "default"], concurrency=slots)

    run_on("uvloop", main())


def _tell(pipe: Connection) -> None:
    pipe.recv()
    used = resource.getrusage(resource.RUSAGE_SELF)
    pipe.send(used.ru_utime + used.ru_stime)
