"""The child job of a transcription: hears a group of windows, each a step of its own, so that none is heard twice."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from towpath import Context
from towpath.assets.hearing import Asked, cost_of, engine_of, hear_window
from towpath.models.speech import Segment, SpeechEngine
from towpath.models.steadiness import language_of, steadiness
from towpath.recordings import live
from towpath.recordings.audio import samples_between
from towpath.recordings.learning import learn_alone
from towpath.recordings.names import WITH_SPEAKERS


@dataclass(slots=True)
class Group:
    """What one child job hears. Windows are pairs of seconds."""

    audio: str
    windows: list[tuple[float, float]]
    language: str | None = None
    speakers: bool = False
    growing: str | None = None
    """The transcript whose lines are shown as they come, if they are."""
    recording_id: str | None = None
    model: str | None = None
    doubted: bool = False
    """Whether it is to be found out if the engine's only language is spoken."""


async def hear(ctx: Context, group: Group) -> dict[str, Any]:
    """Answers the engine's name and the rows of its windows, see `hear_window`."""
    engine = await engine_of(ctx, group.language, group.model)
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
    steady = await ctx.step("steady", _steady, ctx, engine, group, heard) if group.doubted else None
    return {"engine": engine.name, "segments": heard, "cost_cents": cost_of(engine), "steady": steady}


async def _steady(ctx: Context, engine: SpeechEngine, group: Group, heard: list[Any]) -> tuple[str, float] | None:
    """The only language that the engine knows, and how steadily the first window was heard."""
    language = language_of(engine)
    if language is None:
        return None
    start, end = group.windows[0]
    samples = await samples_between(ctx.blobs, group.audio, start, end)
    said = [Segment(row[0] - start, row[1] - start, row[3]) for row in heard if row[0] < end]
    found = await ctx.in_thread(steadiness, engine, samples, said)
    return None if found is None else (language, found)


class _HeardSeconds:
    """Seconds of audio that were heard by this attempt; windows that were on record do not count."""

    def __init__(self) -> None:
        self.audio = 0.0

    async def hear(self, ctx: Context, engine: SpeechEngine, group: Group, start: float, end: float) -> list[Any]:
        heard = await _hear_window(ctx, engine, group, start, end)
        self.audio += end - start
        if group.growing is not None and group.recording_id is not None:
            await live.add(ctx, group.growing, group.recording_id, heard, (start, end))
        return heard


async def _hear_window(ctx: Context, engine: SpeechEngine, group: Group, start: float, end: float) -> list[Any]:
    samples = await samples_between(ctx.blobs, group.audio, start, end)
    return await hear_window(ctx, engine, samples, start, end, Asked(group.language, group.speakers))
