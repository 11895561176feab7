"""Documents through the whole pipeline, from their files to an index that finds them: how fast, over reading them alone, and
whether the last thousand is as fast as the first."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.contender import DatabaseKind, EventLoop
from bench.databases import Databases
from bench.extraction import Document, corpus, library_rate
from bench.measure import Progress
from bench.processes import call
from towpath import App, Settings, assets, documents
from towpath.documents import Given, Owner, Wanted
from towpath.documents.names import CARE_QUEUE, QUEUE, READ

PARTS = 10
_SLOTS = 8
_TENANT = "bench"
_MADE = 80
_LIBRARY = 400
"""Documents that the library is given to compare with."""
_ENDINGS = {"application/pdf": "pdf", "text/html": "html", "text/markdown": "md", "text/plain": "txt"}


@dataclass(frozen=True)
class Through:
    """Documents per second: of each tenth of them as they ended, of all, and of the library alone."""

    parts: list[float]
    rate: float
    library: float
    megabytes: float

    @property
    def flatness(self) -> float:
        return self.parts[-1] / self.parts[0]


@dataclass(frozen=True)
class Reading:
    database: DatabaseKind
    name: str = "documents"
    event_loop: EventLoop = "uvloop"

    async def install(self, url: str) -> None:
        async with _make_app(url, Path.cwd()):
            pass  # opening it applies the migrations


def _make_app(url: str, blobs: Path) -> App:
    app = App(url, settings=Settings(blobs_url=blobs.as_uri(), extract_ocr=False))
    documents.attach(app)
    return app


def through(databases: Databases, *, count: int, progress: Progress) -> Through:
    mix = many(count)
    library = library_rate(mix[:_LIBRARY])
    progress("the library alone, documents per second", library)
    url = databases.fresh(Reading(databases.kind))
    try:
        with TemporaryDirectory(prefix="towpath-bench-") as blobs:
            seconds = call("uvloop", _read, url, Path(blobs), count)
    finally:
        databases.drop(url)
    size = count // PARTS
    parts = [size / (seconds[(part + 1) * size - 1] - seconds[max(0, part * size - 1)]) for part in range(PARTS)]
    found = Through(parts, count / seconds[-1], library, sum(len(data) for data, _ in mix) / 1e6)
    progress("through the pipeline, documents per second", found.rate)
    progress("the last tenth, of the first", found.flatness)
    return found


def many(count: int) -> list[Document]:
    """Some take long to make, so most are like others but for a mark by which each is new to whoever reads it."""
    made = corpus(min(count, _MADE))
    return [_marked(*made[number % len(made)], number) for number in range(count)]


def _marked(data: bytes, media_type: str, number: int) -> Document:
    if not data.startswith(b"PK"):
        return data + (b"\n%% %d\n" % number), media_type
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        archive.comment = b"%d" % number
    return target.getvalue(), media_type


async def _read(url: str, blobs: Path, count: int) -> list[float]:
    """When each of them was done, in seconds from when the first was begun."""
    async with _make_app(url, blobs) as app:
        given = [Given(asset_id=await _uploaded(app, number, one)) for number, one in enumerate(many(count))]
        _, job_id = await documents.create(app, Wanted("upload", given), Owner(_TENANT))
        worker = asyncio.create_task(app.run_worker([QUEUE, CARE_QUEUE], _SLOTS))
        try:
            await app.result(job_id, timeout=None)
        finally:
            worker.cancel()
            await asyncio.wait({worker})
        return await _endings(app)


async def _uploaded(app: App, number: int, document: Document) -> str:
    data, media_type = document

    async def pieces() -> AsyncIterator[bytes]:
        yield data

    name = f"{number}.{_ENDINGS.get(media_type, 'bin')}"
    return (await assets.receive(app, _TENANT, name, pieces(), kinds=None, created_by=None)).id


async def _endings(app: App) -> list[float]:
    began: list[datetime] = []
    ended: list[datetime] = []
    before = None
    while page := await app.list(operation=READ, limit=500, before=before):
        began += [job.started_at for job in page if job.started_at is not None]
        ended += [job.finished_at for job in page if job.finished_at is not None]
        before = page[-1].id
    first = min(began)
    return sorted((moment - first).total_seconds() for moment in ended)
