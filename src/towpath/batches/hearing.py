"""LOCAL: one input of a batch, heard by this installation's speech engine, window by window.

It is fetched and decoded into a folder that goes with the attempt; each window is on record when it was heard, so whoever
comes after a crash decodes again, which is quick, and hears only what is left.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from towpath import Context, Fatal, SchemaInvalid, assets, choices
from towpath.assets.hearing import Asked, engine_of, hear_window
from towpath.assets.people import segments_of
from towpath.batches import stored
from towpath.batches.answers import line_of
from towpath.batches.hearing_here import check_hearing
from towpath.batches.input_list import Given
from towpath.batches.names import answers_key, heard_key
from towpath.batches.records import Batch
from towpath.batches.staging import content
from towpath.models import windows
from towpath.models.windows import Window
from towpath.providers import Result

ATTEMPTS = 5
_ENDLESS = 1000 * 3600.0


@dataclass(slots=True)
class Input:
    """`at` is where the input stands in the list of those that are heard, in bytes."""

    batch_id: str
    shard: int
    at: tuple[int, int]


async def hear(ctx: Context, asked: Input) -> dict[str, Any]:
    batch = await stored.find(ctx, asked.batch_id, tenant=ctx.tenant)
    given = await _given(ctx, batch, asked)
    language = check_hearing(await choices.settings_in(ctx), batch.settings)
    speakers = bool(batch.settings.get("diarization"))
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
        audio = await _decoded(ctx, batch, given, Path(folder))
        cut = await ctx.step("split", _split, audio)
        heard, segments = _Heard(ctx, audio, Asked(language, speakers)), []
        for start, end in cut:
            segments += await ctx.step("window", heard.window, start, end, key=f"{start:.2f}")
    engine = (await engine_of(ctx, language)).name
    seconds = cut[-1][1] if cut else 0.0
    told = await asyncio.to_thread(segments_of, segments, speakers=speakers)
    body = {"engine": engine, "language": language, "seconds": seconds, "segments": told}
    line = line_of(Result(f"r{given.number}", body))
    assert line is not None
    await ctx.blobs.put(answers_key(batch.id, 0, asked.shard), line[1].encode() + b"\n")
    return {"input": given.shown, "seconds": seconds}


async def _given(ctx: Context, batch: Batch, asked: Input) -> Given:
    start, end = asked.at
    if await ctx.blobs.head(heard_key(batch.id)) is None:
        raise Fatal("the batch's inputs were cleaned away when it ended", remedy="retry the batch instead of this job")
    async with aclosing(ctx.blobs.open(heard_key(batch.id), start, end)) as pieces:
        told = json.loads(b"".join([piece async for piece in pieces]))
    return Given(told["n"], told["input"], name=told["name"], blob=told["blob"])


async def _decoded(ctx: Context, batch: Batch, given: Given, folder: Path) -> Path:
    source, target = folder / "input", folder / "audio.pcm"
    async with content(ctx, batch.tenant, given) as pieces:
        with source.open("wb") as file:
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
    most = ctx.settings.max_recording_hours
    limits = assets.Limits(longest_seconds=most * 3600 if most else _ENDLESS)
    await assets.decode(source, target, limits=limits)
    if not target.stat().st_size:
        raise SchemaInvalid(f"{given.name!r} has an audio track without any audio in it")
    return target


async def _split(audio: Path) -> list[tuple[float, float]]:
    found = await asyncio.to_thread(windows.split, audio)
    return [(round(window.start, 3), round(window.end, 3)) for window in found]


@dataclass(slots=True)
class _Heard:
    ctx: Context
    audio: Path
    asked: Asked

    async def window(self, start: float, end: float) -> list[Any]:
        engine = await engine_of(self.ctx, self.asked.language)
        samples = await asyncio.to_thread(windows.read, self.audio, Window(start, end))
        return await hear_window(self.ctx, engine, samples, start, end, self.asked)
