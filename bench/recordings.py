"""Transcription: what Towpath costs over the speech library itself, two workers against one, and one person's wait behind
another's backlog.

Run: python -m bench.recordings [--minutes 2] [--rounds 3] [--backlog-hours 10]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

import av
import numpy as np

from towpath import App, Settings, assets, recordings
from towpath.models import windows
from towpath.models.speech import engine_for
from towpath.recordings import keeping
from towpath.recordings.intake import Options, Uploader, create

RATE = 16_000
Samples = np.ndarray


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recordings")
    parser.add_argument("--minutes", type=float, default=2.0, help="length of the speech that is transcribed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backlog-hours", type=float, default=10.0)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), asked.minutes, asked.rounds, asked.backlog_hours))


async def measure(folder: Path, minutes: float, rounds: int, backlog_hours: float) -> None:
    speech = _speech(minutes * 60)
    seconds = len(speech) / RATE
    wav = _written(folder / "speech.wav", speech)
    direct, one, two = [], [], []
    for _ in range(rounds):  # in turn, so that whatever else the machine does falls on all of them
        direct.append(await asyncio.to_thread(_directly, folder, speech))
        one.append(await _with_workers(folder, wav, 1))
        two.append(await _with_workers(folder, wav, 2))
    _say("the speech library itself", seconds, direct)
    _say("Towpath, one worker", seconds, one)
    _say("Towpath, two workers", seconds, two)
    overhead = statistics.median(b / a - 1 for a, b in zip(direct, one, strict=True))
    faster = statistics.median(a / b for a, b in zip(one, two, strict=True))
    print(f"overhead over the library: {overhead:+.1%} (goal: under 10 %)")
    print(f"two workers against one:   {faster:.2f} times as fast")
    await _fairness(folder, backlog_hours)


def _say(what: str, seconds: float, took: Sequence[float]) -> None:
    middle = statistics.median(took)
    print(f"{what:<27}{seconds / middle:7.1f} seconds of audio per second ({middle:.2f} s)")


def _speech(seconds: float) -> Samples:
    """The sample speech of the engine's own package, over and over."""
    data = files("moonshine_voice") / "assets" / "two_cities.wav"
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with data.open("rb") as source, av.open(source) as container:
        frames = [piece.to_ndarray()[0] for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    return np.resize(np.concatenate(frames), round(seconds * RATE))


def _written(path: Path, samples: Samples) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        for start in range(0, len(samples), RATE):
            frame = av.AudioFrame.from_ndarray(samples[start : start + RATE].reshape(1, -1), format="s16", layout="mono")
            frame.rate, frame.pts = RATE, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def _directly(folder: Path, samples: Samples) -> float:
    """The same windows, one after the other, with nothing around them."""
    pcm = folder / "direct.pcm"
    pcm.write_bytes(samples.tobytes())
    engine, cut = engine_for(Settings()), windows.split(pcm)
    engine.transcribe(windows.read(pcm, windows.Window(0.0, 1.0)))  # loaded before the clock runs
    began = time.perf_counter()
    for window in cut:
        engine.transcribe(windows.read(pcm, window))
    return time.perf_counter() - began


async def _with_workers(folder: Path, wav: Path, workers: int) -> float:
    """From upload to transcript, with as many worker processes, which have loaded their engine before."""
    async with _app(folder) as app, _workers(app, workers):
        await _ended(app, [await _send(app, wav, "warm-up") for _ in range(workers * 2)])
        began = time.perf_counter()
        await _ended(app, [await _send(app, wav, "ann")])
        return time.perf_counter() - began


async def _fairness(folder: Path, hours: float) -> None:
    """A one-minute file of one person, alone and behind many hours of another's."""
    quiet = _written(folder / "quiet.wav", np.zeros(60 * RATE, dtype=np.int16))
    minute, half_hour = quiet, _written(folder / "long.wav", _speech(1800))
    async with _app(folder) as app, _workers(app, 2):
        began = time.perf_counter()
        await _ended(app, [await _send(app, minute, "bob")])
        alone = time.perf_counter() - began
        for _ in range(round(hours * 2)):
            await _send(app, half_hour, "ann")
        await asyncio.sleep(5)  # the backlog is under way
        began = time.perf_counter()
        await _ended(app, [await _send(app, minute, "bob")])
        behind = time.perf_counter() - began
        print(f"a one-minute file: {alone:.1f} s alone, {behind:.1f} s behind {hours:g} hours of somebody else's")


@asynccontextmanager
async def _app(folder: Path) -> AsyncIterator[App]:
    with tempfile.TemporaryDirectory(dir=folder) as home:
        app = App(f"sqlite:///{home}/jobs.db", settings=Settings(auto_summary=False, blobs_url=Path(home, "blobs").as_uri()))
        recordings.attach(app)
        async with app:
            yield app


@asynccontextmanager
async def _workers(app: App, count: int) -> AsyncIterator[None]:
    command = [sys.executable, "-m", "bench.recordings_worker", app.url, app.settings.blobs_url]
    processes = [await asyncio.create_subprocess_exec(*command) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            await process.wait()


async def _send(app: App, path: Path, person: str) -> str:
    async def pieces() -> AsyncIterator[bytes]:
        with path.open("rb") as source:
            while piece := source.read(1 << 20):
                yield piece

    asset = await assets.receive(app, "bench", path.name, pieces(), kinds=assets.MEDIA, created_by=None)
    recording_id, _ = await create(app, asset, Options(auto_summary=False), Uploader("bench", person, person))
    return recording_id


async def _ended(app: App, ids: Sequence[str]) -> None:
    """Until all have a transcript."""
    store = app.services.store
    while True:
        found = await keeping.by_ids(store, ids)
        if all(one.transcript_id is not None for one in found):
            return
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    main()
