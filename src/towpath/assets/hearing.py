"""Which speech engine an operation has, and how that hears some audio."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from towpath import Context, choices
from towpath.models.speech import RemoteSpeechEngine, Segment, SpeechEngine, engine_for
from towpath.models.utterances import Span
from towpath.models.voices.encoder import encoder_for
from towpath.models.voices.prints import Voices

if TYPE_CHECKING:
    from towpath.models.speech import Samples


async def engine_of(ctx: Context, language: str | None, model: str | None = None) -> SpeechEngine:
    """The one that was chosen for this recording, or for all; loaded once per process, whoever asks for it."""
    settings = await choices.settings_in(ctx, speech=model)
    return await ctx.in_thread(engine_for, settings, language)


@dataclass(frozen=True, slots=True)
class Asked:
    """How audio is to be heard."""

    language: str | None = None
    speakers: bool = False


async def hear_window(
    ctx: Context, engine: SpeechEngine, samples: Samples, start: float, end: float, asked: Asked
) -> list[Any]:
    """The samples of one window, as [start, end, speaker, text, voice print, language, window] in seconds of the whole
    recording; what the engine calls a speaker holds within the window that begins at the last of them."""
    voices = await _voices(ctx, samples) if asked.speakers else None
    if isinstance(engine, RemoteSpeechEngine):
        await ctx.budget(engine.budget)  # another job may have been told to wait
        segments = await engine.transcribe_remotely(samples, language=asked.language, voices=voices)
    else:
        heard = partial(engine.transcribe, samples, language=asked.language, voices=voices)
        segments = await ctx.in_thread(heard)
    await ctx.meter(model=engine.name, cost_cents=cost_of(engine))
    return await ctx.in_thread(rows_of, segments, start, end, voices)


def rows_of(segments: list[Segment], start: float, end: float, voices: Voices | None) -> list[list[Any]]:
    """What was heard in one window, as rows in seconds of the whole."""
    said = [segment for segment in segments if segment.text.strip()]
    prints = [None] * len(said) if voices is None else voices.prints(span_of(one) for one in said)
    return [[*_row(segment.moved(start), end, print), start] for segment, print in zip(said, prints, strict=True)]


async def _voices(ctx: Context, samples: Samples) -> Voices:
    return Voices(samples, await ctx.in_thread(encoder_for, ctx.settings))


def span_of(segment: Segment) -> Span:
    return Span(segment.start, segment.end)


def cost_of(engine: SpeechEngine) -> float | None:
    """What is heard on this machine costs nobody anything; what a service asks for it is not known here."""
    return None if isinstance(engine, RemoteSpeechEngine) else 0.0


def _row(segment: Segment, end: float, print: str | None) -> list[Any]:
    """Engines round; nothing ends after its window does."""
    last = min(segment.end, end)
    first = round(min(segment.start, last), 3)
    return [first, round(last, 3), segment.speaker, segment.text.strip(), print, segment.language]
