"""transcribe_file: audio or video in, what was said with times out, by the speech engine of this machine's settings."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from towpath import SchemaInvalid, Settings, assets
from towpath.assets.hearing import rows_of
from towpath.assets.people import segments_of
from towpath.fleet.names import TRANSCRIBE_FILE
from towpath.fleet.node.operations import RemoteContext, remote_operation
from towpath.models import windows
from towpath.models.speech import SpeechEngine, check_language, engine_for, listen
from towpath.models.voices.encoder import encoder_for
from towpath.models.voices.prints import Voices
from towpath.models.windows import Window

if TYPE_CHECKING:
    from towpath.models.speech import Samples

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
    encoder = await asyncio.to_thread(encoder_for, settings) if speakers else None
    rows: list[list[Any]] = []
    for window in cut:
        samples = await asyncio.to_thread(windows.read, audio, window)
        voices = Voices(samples, encoder) if speakers else None
        rows += await _heard(engine, samples, window, language, voices)
        await ctx.progress(window.end, seconds, "transcribing")
    await ctx.meter(model=engine.name, cost_cents=0.0)
    segments = await asyncio.to_thread(segments_of, rows, speakers=speakers)
    text = " ".join(one["text"] for one in segments)
    told = {"engine": engine.name, "language": language, "seconds": round(seconds, 3), "text": text, "segments": segments}
    ctx.output.write_text(json.dumps(told, ensure_ascii=False, indent=1), "utf-8")


async def _heard(
    engine: SpeechEngine, samples: Samples, window: Window, language: str | None, voices: Voices | None
) -> list[list[Any]]:
    found = await listen(engine, samples, language=language, voices=voices)
    return await asyncio.to_thread(rows_of, found, window.start, window.end, voices)
