"""Transcription: what Towpath costs over the speech library itself, two workers against one, and one person's wait behind
another's backlog."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.databases import Databases
from bench.measure import Comparison, Progress, compare
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


def transcriptions(databases: Databases, *, minutes: float, rounds: int, progress: Progress) -> dict[str, Comparison]:
    """Seconds of audio per second, from the upload of a file to its transcript; ratios to the library on that file."""
    with TemporaryDirectory(prefix="towpath-bench-") as folder:
        path = written(Path(folder) / "speech.wav", speech(minutes * 60))
        subjects = {
            AS_IT_COMES: lambda: minutes * 60 / call("asyncio", library, str(path), "as it comes"),
            ONE: partial(_rate, databases, path, minutes * 60, 1),
            TWO: partial(_rate, databases, path, minutes * 60, 2),
        }
        return compare(
            LIBRARY,
            lambda: minutes * 60 / call("asyncio", library, str(path), "same settings"),
            subjects,
            rounds=rounds,
            progress=progress,
        )


def _rate(databases: Databases, path: Path, seconds: float, count: int) -> float:
    with _place(databases) as (url, blobs), workers(url, blobs, count):
        return seconds / call("uvloop", _transcribe, url, blobs, path)


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
