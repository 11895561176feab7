"""transcribe_file: audio or video in, what was said with times out, by the speech engine of this machine's settings."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from towpath import SchemaInvalid, Settings, assets
from towpath.fleet.names import TRANSCRIBE_FILE
from towpath.fleet.node.operations import RemoteContext, remote_operation
from towpath.models import windows
from towpath.models.speech import Segment, SpeechEngine, check_language, engine_for, listen
from towpath.models.utterances import Span
from towpath.models.voices.encoder import encoder_for
from towpath.models.voices.linking import Stretch, linked
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
    heard: list[tuple[Segment, str | None]] = []
    for window in cut:
        samples = await asyncio.to_thread(windows.read, audio, window)
        heard += await _heard(engine, samples, window, language, Voices(samples, encoder) if speakers else None)
        await ctx.progress(window.end, seconds, "transcribing")
    people = await asyncio.to_thread(linked, [Stretch(one.end - one.start, print_) for one, print_ in heard])
    segments = [_told(one, who) for (one, _), who in zip(heard, people.people, strict=True)]
    await ctx.meter(model=engine.name, cost_cents=0.0)
    text = " ".join(one["text"] for one in segments)
    told = {"engine": engine.name, "language": language, "seconds": round(seconds, 3), "text": text, "segments": segments}
    ctx.output.write_text(json.dumps(told, ensure_ascii=False, indent=1), "utf-8")


async def _heard(
    engine: SpeechEngine, samples: Samples, window: Window, language: str | None, voices: Voices | None
) -> list[tuple[Segment, str | None]]:
    """What was said, in seconds of the whole, with voice prints if speakers are to be told apart."""
    found = [one for one in await listen(engine, samples, language=language, voices=voices) if one.text.strip()]
    spans = [Span(one.start, one.end) for one in found]
    prints = [None] * len(found) if voices is None else await asyncio.to_thread(voices.prints, spans)
    whole = [replace(one.moved(window.start), end=min(one.end + window.start, window.end)) for one in found]
    return list(zip(whole, prints, strict=True))


def _told(one: Segment, who: int | None) -> dict[str, Any]:
    speaker = None if who is None else f"Speaker {who}"
    return {"start": round(one.start, 3), "end": round(one.end, 3), "speaker": speaker, "text": one.text.strip()}
