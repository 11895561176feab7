"""Transcription: what Towpath costs over the speech library itself, two workers against one, and one person's wait behind
another's backlog."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.databases import Databases
from bench.measure import Comparison, Measurement, Progress, compare
from bench.processes import call
from bench.results import Turn
from bench.speech import library, speech, written
from bench.subjects.recordings import Recordings, make_app, send, transcribed, workers
from towpath import App

LIBRARY = "the speech library"
AS_IT_COMES = "the speech library as it comes"
ONE, TWO = "towpath, 1 worker", "towpath, 2 workers"
_PARTS = 20  # of a backlog
_MINUTE = 60.0


@dataclass(frozen=True)
class Measured:
    """`compared` is in seconds of audio per second; `computing` is the library's, as a ratio, whoever else was computing."""

    compared: dict[str, Comparison]
    computing: dict[str, float]


def transcriptions(databases: Databases, *, minutes: float, rounds: int, progress: Progress) -> Measured:
    """From the upload of a file to its transcript, against the library on that file."""
    spent: dict[str, list[float]] = {name: [] for name in (LIBRARY, AS_IT_COMES, ONE, TWO)}

    def rate(name: str, measure: Callable[[], tuple[float, float]]) -> float:
        seconds, computing = measure()
        spent[name].append(computing)
        return minutes * 60 / seconds

    with TemporaryDirectory(prefix="towpath-bench-") as folder:
        path = written(Path(folder) / "speech.wav", speech(minutes * 60))
        ways = {
            LIBRARY: partial(call, "asyncio", library, str(path), "same settings"),
            AS_IT_COMES: partial(call, "asyncio", library, str(path), "as it comes"),
            ONE: partial(_measured, databases, path, 1),
            TWO: partial(_measured, databases, path, 2),
        }
        subjects: dict[str, Measurement] = {name: partial(rate, name, ways[name]) for name in (AS_IT_COMES, ONE, TWO)}
        compared = compare(LIBRARY, partial(rate, LIBRARY, ways[LIBRARY]), subjects, rounds=rounds, progress=progress)
    return Measured(compared, {name: median(found) / median(spent[LIBRARY]) for name, found in spent.items()})


def _measured(databases: Databases, path: Path, count: int) -> tuple[float, float]:
    with _place(databases) as (url, blobs), workers(url, blobs, count) as computed:
        before = computed()
        seconds = call("uvloop", _transcribe, url, blobs, path)
        return seconds, computed() - before


async def _transcribe(url: str, blobs: Path, path: Path) -> float:
    async with make_app(url, blobs) as app:
        return await _time(app, path, "ann")


async def _time(app: App, path: Path, person: str) -> float:
    began = time.perf_counter()
    recording_id, _ = await send(app, path, person)
    await transcribed(app, [recording_id])
    return time.perf_counter() - began


def turn(databases: Databases, *, hours: float) -> Turn:
    """A minute of one person, alone and behind so many hours of another, with two workers."""
    with TemporaryDirectory(prefix="towpath-bench-") as folder, _place(databases) as (url, blobs):
        minute = written(Path(folder) / "minute.mp3", speech(_MINUTE))
        part = written(Path(folder) / "part.mp3", speech(hours * 3600 / _PARTS))
        with workers(url, blobs, 2):
            alone, behind, heard = call("uvloop", _turn, url, blobs, minute, part)
    return Turn(databases.kind, hours, alone, behind, heard)


async def _turn(url: str, blobs: Path, minute: Path, part: Path) -> tuple[float, float, float]:
    async with make_app(url, blobs) as app:
        alone = await _time(app, minute, "bob")
        jobs = [(await send(app, part, "ann"))[1] for _ in range(_PARTS)]
        before = await _under_way(app, jobs)
        behind = await _time(app, minute, "bob")
        return alone, behind, await _heard(app, jobs) - before


async def _under_way(app: App, jobs: list[str]) -> float:
    """Until something of the backlog has been heard; answers how much."""
    while True:
        if heard := await _heard(app, jobs):
            return heard
        await asyncio.sleep(0.05)


async def _heard(app: App, jobs: list[str]) -> float:
    """Seconds of audio of these jobs that have been heard so far."""
    rows = [await app.get(job) for job in jobs]
    return sum(row.progress_current or 0.0 for row in rows if row.progress_total and row.progress_total > 1)


@contextmanager
def _place(databases: Databases) -> Iterator[tuple[str, Path]]:
    url = databases.fresh(Recordings(databases.kind))
    try:
        with TemporaryDirectory(prefix="towpath-bench-") as blobs:
            yield url, Path(blobs)
    finally:
        databases.drop(url)
