"""Speech to text: what an engine promises, and which one the settings choose.

An engine hears one window of at most some 30 seconds and answers with timed segments. `listen` is how a coroutine asks it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from towpath.core.errors import ConfigurationError
from towpath.models.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from towpath.models.voices.prints import Voices

    Samples = NDArray[np.float32]

SAMPLE_RATE = 16_000
ENGINES = ("moonshine", "faster_whisper", "openai_compatible")


@dataclass(frozen=True, slots=True)
class Segment:
    """Seconds count from the first of the samples that were given. `speaker` is whom the engine itself takes for one person
    within these samples, and `language` what it found to be spoken; None from engines that do not say."""

    start: float
    end: float
    text: str
    speaker: str | None = None
    language: str | None = None

    def moved(self, seconds: float) -> Segment:
        """The same segment in a recording in which its window begins at `seconds`."""
        return Segment(self.start + seconds, self.end + seconds, self.text, self.speaker, self.language)


class SpeechEngine(Protocol):
    """`transcribe` blocks and may be called from any thread; segments come in order, without empty ones."""

    @property
    def name(self) -> str:
        """Engine and model, such as `moonshine/tiny-en`: recorded with every transcript."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """Primary language tags; None means any."""
        ...

    def transcribe(self, samples: Samples, *, language: str | None = None, voices: Voices | None = None) -> list[Segment]:
        """Of mono float32 samples at 16 kHz. Silence gives an empty list. An engine that finds out by itself where somebody
        speaks asks `voices` where to divide that, so that no segment is of two people."""
        ...


@runtime_checkable
class RemoteSpeechEngine(Protocol):
    """An engine whose work is waiting for somebody else: a coroutine can wait, and be cancelled, without a thread."""

    @property
    def budget(self) -> str:
        """The name of the rate budget that a 429 of this service blocks."""
        ...

    async def transcribe_remotely(
        self, samples: Samples, *, language: str | None = None, voices: Voices | None = None
    ) -> list[Segment]: ...


async def listen(
    engine: SpeechEngine, samples: Samples, *, language: str | None = None, voices: Voices | None = None
) -> list[Segment]:
    """What `engine.transcribe` answers, without blocking the event loop."""
    if isinstance(engine, RemoteSpeechEngine):
        return await engine.transcribe_remotely(samples, language=language, voices=voices)
    return await asyncio.to_thread(engine.transcribe, samples, language=language, voices=voices)


def engine_name(settings: ModelSettings) -> str:
    """The engine the settings choose: the named one, else the endpoint if there is one, else this machine."""
    name = settings.speech_engine.replace("-", "_") or ("openai_compatible" if settings.speech_url else "moonshine")
    if name not in ENGINES:
        raise ConfigurationError(
            f"TOWPATH_SPEECH_ENGINE must be one of {', '.join(ENGINES)}, got {settings.speech_engine!r}"
        )
    return name


def engine_for(settings: ModelSettings, language: str | None = None) -> SpeechEngine:
    """The engine that hears this language, loaded once per process and shared by its threads.

    SchemaInvalid if no installed model hears the language, ConfigurationError if a library or a model is missing; both
    say what to install.
    """
    match engine_name(settings):
        case "moonshine":
            from towpath.models import moonshine

            return moonshine.engine(settings, language)
        case "faster_whisper":
            from towpath.models import whisper

            return whisper.engine(settings, language)
        case _:
            from towpath.models import remote_speech

            return remote_speech.engine(settings, language)


def check_language(settings: ModelSettings, language: str | None) -> str | None:
    """Refuses what `engine_for` would refuse, without loading a model: for use before anything is queued.

    Answers with the language as engines take it (`en` for `en-GB`); None means that the engine decides.
    """
    match engine_name(settings):
        case "moonshine":
            from towpath.models import moonshine

            return moonshine.check(settings, language)
        case "faster_whisper":
            from towpath.models import whisper

            return whisper.check(settings, language)
        case _:
            from towpath.models import remote_speech

            return remote_speech.check(settings, language)
