"""Any service that speaks OpenAI's `/audio/transcriptions`: hosted ones, and servers of your own."""

from __future__ import annotations

import asyncio
import io
import wave
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError
from towpath.models import pcm
from towpath.models.languages import detected, primary
from towpath.models.settings import ModelSettings
from towpath.models.speech import SAMPLE_RATE, Segment
from towpath.models.wire import Service, service

if TYPE_CHECKING:
    from towpath.models.speech import Samples
    from towpath.models.voices.prints import Voices

_PATH = "/audio/transcriptions"
_USUAL_MODEL = "whisper-1"
_WITHOUT_TIMES = ("gpt-",)  # these answer bare text only
_SILENCE = 0.001  # of full scale: such models make up words when there is nothing to hear


class RemoteSpeech:
    languages = None

    def __init__(self, asked: Service, model: str) -> None:
        self._service, self._model = asked, model

    @property
    def name(self) -> str:
        return f"openai_compatible/{self._model}"

    @property
    def budget(self) -> str:
        return self._service.budget

    def transcribe(self, samples: Samples, *, language: str | None = None, voices: Voices | None = None) -> list[Segment]:
        """For threads. Coroutines ask `transcribe_remotely`."""
        return asyncio.run(self.transcribe_remotely(samples, language=language, voices=voices))

    async def transcribe_remotely(
        self, samples: Samples, *, language: str | None = None, voices: Voices | None = None
    ) -> list[Segment]:
        if not len(samples) or float(abs(samples).max()) < _SILENCE:
            return []
        wanted = "json" if self._model.startswith(_WITHOUT_TIMES) else "verbose_json"
        fields = {"model": self._model, "response_format": wanted, "temperature": "0"}
        if tag := primary(language):
            fields["language"] = tag
        files = {"file": ("window.wav", _wav(samples), "audio/wav")}
        answer = await self._service.post(_PATH, data=fields, files=files)
        return self._segments(answer, len(samples) / SAMPLE_RATE)

    def _segments(self, answer: dict[str, Any], total: float) -> list[Segment]:
        """Timed ones where the service gives times, else its text over the whole window."""
        try:
            items = answer.get("segments") or [{"start": 0.0, "end": total, "text": answer["text"]}]
            spoken = detected(answer.get("language"))
            found = [_segment(item, total, spoken) for item in items]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._service.misshapen(answer) from None
        return sorted((segment for segment in found if segment.text), key=lambda segment: segment.start)


def engine(settings: ModelSettings, language: str | None) -> RemoteSpeech:
    check(settings, language)
    asked = service("speech", settings.speech_url, settings.speech_key, settings.model_timeout_seconds)
    return RemoteSpeech(asked, settings.speech_model or _USUAL_MODEL)


def check(settings: ModelSettings, language: str | None) -> str | None:
    """The service knows its languages; here only the tag is looked at."""
    if not settings.speech_url:
        raise ConfigurationError("TOWPATH_SPEECH_ENGINE=openai_compatible needs TOWPATH_SPEECH_URL, the service's base URL")
    service("speech", settings.speech_url, "", 0)
    return primary(language)


def _segment(item: dict[str, Any], total: float, language: str | None) -> Segment:
    """Within its window, whatever the service says."""
    start = min(max(0.0, float(item["start"])), total)
    end = min(max(start, float(item["end"])), total)
    text, speaker = item["text"], item.get("speaker")
    if not isinstance(text, str):
        raise TypeError("text")
    who = speaker if isinstance(speaker, str) else None
    return Segment(round(start, 3), round(end, 3), " ".join(text.split()), who, language)


def _wav(samples: Samples) -> bytes:
    held = io.BytesIO()
    with wave.open(held, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(pcm.BYTES_PER_SAMPLE)
        target.setframerate(SAMPLE_RATE)
        target.writeframes(pcm.to_bytes(samples))
    return held.getvalue()
