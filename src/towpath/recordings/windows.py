"""The child job of a transcription: hears a group of windows, each a step of its own, so that none is heard twice."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from towpath import Context
from towpath.models.settings import ModelSettings
from towpath.models.speech import RemoteSpeechEngine, Segment, SpeechEngine, engine_for
from towpath.recordings.audio import samples_between
from towpath.recordings.learning import learn_alone
from towpath.recordings.names import SPEECH_ENGINES, WITH_SPEAKERS


class SpeechEngines:
    """The speech engines of a worker process: opened by the first window that needs one, kept for all that follow."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._opened: dict[str | None, SpeechEngine] = {}
        self._opening = threading.Lock()

    async def of(self, ctx: Context, language: str | None) -> SpeechEngine:
        known = self._opened.get(language)
        return await ctx.in_thread(self._open, language) if known is None else known

    def _open(self, language: str | None) -> SpeechEngine:
        with self._opening:
            if language not in self._opened:
                self._opened[language] = engine_for(self._settings, language)
            return self._opened[language]


@dataclass(slots=True)
class Group:
    """What one child job hears. Windows are pairs of seconds."""

    audio: str
    windows: list[tuple[float, float]]
    language: str | None = None
    speakers: bool = False


async def hear(ctx: Context, group: Group) -> dict[str, Any]:
    """Answers the engine's name and the segments as [start, end, speaker, text] in seconds of the whole recording."""
    engines: SpeechEngines = await ctx.resources.get(SPEECH_ENGINES)
    engine = await engines.of(ctx, group.language)
    total = sum(end - start for start, end in group.windows)
    heard: list[Any] = []
    done = 0.0
    tally, began = _HeardSeconds(), time.monotonic()
    for start, end in group.windows:
        heard += await ctx.step("window", tally.hear, ctx, engine, group, start, end, key=f"{start:.2f}")
        done += end - start
        await ctx.progress(min(done, total), total)
        await ctx.share_progress()
    name = engine.name + WITH_SPEAKERS if group.speakers else engine.name
    # With what is written between the windows: whoever waits behind this job waits for that as well.
    await learn_alone(ctx, name, tally.audio, time.monotonic() - began)
    return {"engine": engine.name, "segments": heard, "cost_cents": _cost(engine)}


class _HeardSeconds:
    """Seconds of audio that were heard by this attempt; windows that were on record do not count."""

    def __init__(self) -> None:
        self.audio = 0.0

    async def hear(self, ctx: Context, engine: SpeechEngine, group: Group, start: float, end: float) -> list[Any]:
        heard = await _hear_window(ctx, engine, group, start, end)
        self.audio += end - start
        return heard


def _cost(engine: SpeechEngine) -> float | None:
    """What is heard on this machine costs nobody anything; what a service asks for it is not known here."""
    return None if isinstance(engine, RemoteSpeechEngine) else 0.0


async def _hear_window(ctx: Context, engine: SpeechEngine, group: Group, start: float, end: float) -> list[Any]:
    samples = await samples_between(ctx.blobs, group.audio, start, end)
    language, speakers = group.language, group.speakers
    if isinstance(engine, RemoteSpeechEngine):
        await ctx.budget(engine.budget)  # another job may have been told to wait
        segments = await engine.transcribe_remotely(samples, language=language, speakers=speakers)
    else:
        heard = partial(engine.transcribe, samples, language=language, speakers=speakers)
        segments = await ctx.in_thread(heard)
    await ctx.meter(model=engine.name, cost_cents=_cost(engine))
    return [_row(segment.moved(start), end) for segment in segments if segment.text.strip()]


def _row(segment: Segment, end: float) -> list[Any]:
    """Engines round; nothing ends after its window does."""
    last = min(segment.end, end)
    return [round(min(segment.start, last), 3), round(last, 3), segment.speaker, segment.text.strip()]
