"""Recordings as people run them: one database, one directory of blobs, and worker processes that hear a window at a time."""

import asyncio
import multiprocessing
import resource
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bench.contender import DatabaseKind, EventLoop
from bench.processes import ChildFailed, run_on
from towpath import App, Settings, assets, recordings
from towpath.recordings import stored
from towpath.recordings.audio import pieces_of
from towpath.recordings.intake import Options, Uploader, create
from towpath.recordings.names import TRANSCRIPTION_QUEUE

_PATIENCE = 120.0
_LOOK_EVERY = 0.01
_TENANT = "bench"
_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Recordings:
    database: DatabaseKind
    name: str = "recordings"
    event_loop: EventLoop = "uvloop"

    async def install(self, url: str) -> None:
        async with make_app(url, Path.cwd()):
            pass  # opening it applies the migrations


def make_app(url: str, blobs: Path) -> App:
    app = App(url, settings=Settings(auto_summary=False, blobs_url=blobs.as_uri()))
    recordings.attach(app)
    return app


async def send(app: App, path: Path, person: str) -> tuple[str, str]:
    """Uploads a file; answers the ids of the recording and its job."""
    pieces: AsyncIterator[bytes] = pieces_of(path)
    asset = await assets.receive(app, _TENANT, path.name, pieces, kinds=assets.MEDIA, created_by=None)
    return await create(app, asset, Options(auto_summary=False), Uploader(_TENANT, person, person))


async def transcribed(app: App, ids: Sequence[str]) -> None:
    """Until all of them have a transcript."""
    while True:
        found = await stored.by_ids(app, ids)
        if all(one.transcript_id is not None for one in found):
            return
        await asyncio.sleep(_LOOK_EVERY)


@contextmanager
def workers(url: str, blobs: Path, count: int) -> Iterator[Callable[[], float]]:
    """So many worker processes, which have loaded their engine; tells how much they and their decoders have computed."""
    children = [_started(url, blobs) for _ in range(count)]
    try:
        for _, pipe in children:
            if not pipe.poll(_PATIENCE):
                raise ChildFailed(f"a worker was not ready within {_PATIENCE:.0f} s")
            pipe.recv()
        yield lambda: sum(_computed(pipe) for _, pipe in children)
    finally:
        for child, _ in children:
            child.kill()
            child.join()


def _computed(pipe: Connection) -> float:
    pipe.send("computed?")
    seconds: float = pipe.recv()
    return seconds


def _started(url: str, blobs: Path) -> tuple[multiprocessing.process.BaseProcess, Connection]:
    ours, theirs = _spawn.Pipe()
    child = _spawn.Process(target=_work, args=(theirs, url, blobs))
    child.start()
    theirs.close()
    return child, ours


def _work(pipe: Connection, url: str, blobs: Path) -> None:
    async def main() -> None:
        from towpath.models.speech import engine_for
        from towpath.models.windows import Window, read

        async with make_app(url, blobs) as app:
            silence = blobs / "silence.pcm"
            silence.write_bytes(bytes(32_000))
            engine_for(app.settings, "en").transcribe(read(silence, Window(0.0, 1.0)))
            pipe.send("ready")
            asyncio.get_running_loop().add_reader(pipe.fileno(), _tell, pipe)
            await app.run_worker([TRANSCRIPTION_QUEUE], concurrency=1)

    run_on("uvloop", main())


def _tell(pipe: Connection) -> None:
    pipe.recv()
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    pipe.send(sum(one.ru_utime + one.ru_stime for one in used))
