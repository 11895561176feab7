"""Whether people are told the truth about how long they will wait: a mixed hour of recordings, pressed into some seconds.

Everything is real but the speech engine, which sleeps as long as its script says: several people, recordings of various
lengths, speeds that drift and differ, a worker that goes and comes back, and a pause. Again and again somebody looks at all
recordings that are under way; when all is done, every look is compared with what came of it.
"""

import asyncio
import math
import random
import threading
import time
import wave
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.databases import Databases
from bench.processes import call
from bench.results import Waits
from bench.subjects.recordings import Recordings, make_app, send, transcribed
from towpath import App
from towpath.assets import hearing
from towpath.models.speech import SAMPLE_RATE, Segment
from towpath.recordings import stored
from towpath.recordings.names import TRANSCRIPTION_QUEUE
from towpath.recordings.views import views

_HOUR = 3600.0
_SPEED = 10.0
"""Seconds of audio that a slot hears in a second of the bench."""
_SLOTS = 2
"""Of each of two workers."""
_BUSY = 0.5
"""How much of what the slots could hear is sent."""
_LENGTHS = (10, 25, 40, 60, 90, 120, 180, 300)
_PEOPLE = ("ann", "bob", "cid", "dot", "eve")
_GOES, _COMES, _PAUSES, _RESUMES = 0.35, 0.5, 0.7, 0.76
_LOOKS = 150
SEED = 11
"""Of the hour that the goal was first judged by; another seed is another hour."""


@dataclass
class Scripted:
    """A speech engine that takes its time: more or less by the hour, and differently for each window."""

    began: float
    span: float
    chance: random.Random
    name: str = "scripted"
    languages: frozenset[str] | None = None
    tells_speakers: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def transcribe(self, samples: Any, *, language: str | None = None, speakers: bool = False) -> list[Segment]:
        with self.lock:
            luck = self.chance.lognormvariate(0.0, 0.2)
        drift = 1.0 + 0.3 * math.sin(2 * math.pi * (time.monotonic() - self.began) / self.span)
        seconds = len(samples) / SAMPLE_RATE
        time.sleep(seconds / (_SPEED * luck * drift))
        return [Segment(0.0, seconds, "It is said.")]


@dataclass(frozen=True)
class Look:
    at: float
    recording_id: str
    low: float
    high: float


def told(databases: Databases, *, seconds: float, seed: int) -> Waits:
    """An hour in so many seconds; who sends what and when, and how fast it is heard, follows from the seed."""
    url = databases.fresh(Recordings(databases.kind))
    try:
        with TemporaryDirectory(prefix="towpath-bench-") as folder:
            looks, ends, reasons = call("asyncio", _hour, url, Path(folder), seconds, seed)
    finally:
        databases.drop(url)
    judged = [(look, ends[look.recording_id] - look.at) for look in looks]
    right = sum(look.low <= truth <= look.high for look, truth in judged)
    return Waits(
        databases.kind, seconds, seed, len(ends), len(judged), right / len(judged),
        sum(truth < look.low for look, truth in judged) / len(judged), median(look.high / look.low for look, _ in judged),
        reasons,
    )  # fmt: skip


async def _hour(url: str, folder: Path, span: float, seed: int) -> tuple[list[Look], dict[str, float], int]:
    began = time.monotonic()
    with _engine(Scripted(began, span, random.Random(seed))):
        async with make_app(url, folder) as app, _worker(url, folder), _wavering_worker(url, folder, span):
            sending = asyncio.create_task(_send_all(app, folder, span, seed))
            pausing = asyncio.create_task(_pause(app, span))
            looks, reasons = await _look(app, sending, span)
            ids = await sending
            await pausing
            await transcribed(app, ids)
            return looks, await _ends(app, ids), reasons


@contextmanager
def _engine(engine: Scripted) -> Iterator[None]:
    before = hearing.engine_for
    hearing.engine_for = lambda _settings, _language=None: engine  # type: ignore[assignment]  # for as long as the hour lasts
    try:
        yield
    finally:
        hearing.engine_for = before


@asynccontextmanager
async def _worker(url: str, blobs: Path) -> AsyncIterator[None]:
    async with make_app(url, blobs) as app:
        task = asyncio.create_task(app.run_worker([TRANSCRIPTION_QUEUE], concurrency=_SLOTS))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@asynccontextmanager
async def _wavering_worker(url: str, blobs: Path, span: float) -> AsyncIterator[None]:
    """Goes in the middle of the hour, and comes back."""

    async def waver() -> None:
        async with _worker(url, blobs):
            await asyncio.sleep(_GOES * span)
        await asyncio.sleep((_COMES - _GOES) * span)
        async with _worker(url, blobs):
            await asyncio.Event().wait()

    task = asyncio.create_task(waver())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _pause(app: App, span: float) -> None:
    await asyncio.sleep(_PAUSES * span)
    await app.queues.pause(TRANSCRIPTION_QUEUE)
    await asyncio.sleep((_RESUMES - _PAUSES) * span)
    await app.queues.resume(TRANSCRIPTION_QUEUE)


async def _send_all(app: App, folder: Path, span: float, seed: int) -> list[str]:
    """Whatever people send in an hour: one now and then, and sometimes several at once."""
    chance, began, ids = random.Random(seed), time.monotonic(), []
    files = {seconds: _written(folder / f"{seconds}.wav", seconds) for seconds in _LENGTHS}
    for at, person, seconds in _script(chance, span):
        await asyncio.sleep(max(0.0, began + at - time.monotonic()))
        ids.append((await send(app, files[seconds], person))[0])
    return ids


def _script(chance: random.Random, span: float) -> list[tuple[float, str, int]]:
    wanted, found = _BUSY * span * 2 * _SLOTS * _SPEED, []
    while sum(seconds for _, _, seconds in found) < wanted:
        at, person = chance.uniform(0.0, 0.9) * span, chance.choice(_PEOPLE)
        found += [(at, person, chance.choice(_LENGTHS)) for _ in range(chance.choice((1, 1, 1, 2, 6)))]
    return sorted(found)


def _written(path: Path, seconds: int) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(bytes(2 * SAMPLE_RATE * seconds))
    return path


async def _look(app: App, sending: "asyncio.Task[list[str]]", span: float) -> tuple[list[Look], int]:
    """Until nothing is under way any more; also how often there was a reason instead of an estimate."""
    looks: list[Look] = []
    reasons = 0
    while True:
        await asyncio.sleep(span / _LOOKS)
        recordings = await stored.page(app, None, text=None, before=None, limit=200)
        at = time.time()
        live = [view.job for view in await views(app, recordings) if view.job and view.job.completed_at is None]
        for job in live:
            if job.eta_seconds is not None:
                looks.append(Look(at, job.recording_id, *job.eta_seconds))
            else:
                reasons += job.waiting_for is not None
        if sending.done() and not live:
            return looks, reasons


async def _ends(app: App, ids: list[str]) -> dict[str, float]:
    works = await stored.work_on(app, await stored.by_ids(app, ids))
    return {work.recording.id: work.jobs[0].finished_at.timestamp() for work in works if work.jobs[0].finished_at}
