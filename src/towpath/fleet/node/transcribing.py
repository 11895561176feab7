"""transcribe_file: audio or video in, what was said with times out, by the speech engine of this machine's settings."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from towpath import SchemaInvalid, Settings, assets
from towpath.fleet.names import TRANSCRIBE_FILE
from towpath.fleet.node.operations import RemoteContext, remote_operation
from towpath.models import windows
from towpath.models.speech import SpeechEngine, check_language, engine_for, listen
from towpath.models.windows import Window

_ENDLESS = 1000 * 3600.0


@remote_operation(TRANSCRIBE_FILE, kind="transcription")
async def transcribe_file(ctx: RemoteContext) -> None:
    settings = Settings.load()
    language = check_language(settings, ctx.settings.get("language"))
    speakers = bool(ctx.settings.get("speakers"))
    audio = ctx.output.with_name("audio.pcm")
    await ctx.progress(0, None, "decoding")
    most = settings.max_recording_hours
    await assets.decode(ctx.input, audio, limits=assets.Limits(longest_seconds=most * 3600 if most else _ENDLESS))
    if not audio.stat().st_size:
        raise SchemaInvalid(f"{ctx.name!r} has an audio track without any audio in it")
    cut = await asyncio.to_thread(windows.split, audio)
    engine = await asyncio.to_thread(engine_for, settings, language)
    seconds = cut[-1].end if cut else 0.0
    segments: list[dict[str, Any]] = []
    for window in cut:
        segments += await _heard(engine, audio, window, language, speakers=speakers)
        await ctx.progress(window.end, seconds, "transcribing")
    await ctx.meter(model=engine.name, cost_cents=0.0)
    text = " ".join(one["text"] for one in segments)
    told = {"engine": engine.name, "language": language, "seconds": round(seconds, 3), "text": text, "segments": segments}
    ctx.output.write_text(json.dumps(told, ensure_ascii=False, indent=1), "utf-8")


async def _heard(
    engine: SpeechEngine, audio: Any, window: Window, language: str | None, *, speakers: bool
) -> list[dict[str, Any]]:
    samples = await asyncio.to_thread(windows.read, audio, window)
    found = await listen(engine, samples, language=language, speakers=speakers)
    moved = [segment.moved(window.start) for segment in found if segment.text.strip()]
    return [
        {
            "start": round(one.start, 3), "end": round(min(one.end, window.end), 3), "speaker": one.speaker,
            "text": one.text.strip(),
        } for one in moved
    ]  # fmt: skip
