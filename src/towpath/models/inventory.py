"""Every model that could be used here, and whether it is on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from towpath.core.errors import ConfigurationError, OperationError
from towpath.models import embeddings, speech
from towpath.models.moonshine_catalog import published
from towpath.models.moonshine_files import BUNDLED, installed
from towpath.models.pulling import WHISPER_MODELS
from towpath.models.settings import ModelSettings, models_dir
from towpath.models.voices.encoder import weights_path
from towpath.models.voices.fetching import NAME as SPEAKERS


@dataclass(frozen=True, slots=True)
class Entry:
    """`state` is `in use`, `installed`, `can be pulled` or what is missing."""

    name: str
    kind: str
    languages: str
    state: str
    note: str = ""


def entries(settings: ModelSettings) -> list[Entry]:
    used = in_use(settings)
    return [
        *_moonshine(settings, used), *_whisper(settings, used), *_services(settings, used), _voices(settings), _embeddings(),
    ]  # fmt: skip


def in_use(settings: ModelSettings) -> str | None:
    """The speech engine that would hear a recording without a language; None if none can."""
    try:
        speech.check_language(settings, None)
        name = speech.engine_name(settings)
    except (ConfigurationError, OperationError):
        return None
    if name == "moonshine":
        from towpath.models import moonshine

        return f"moonshine/{moonshine.choose(settings, None).name}"
    if name == "faster_whisper":
        from towpath.models import whisper

        return f"whisper/{whisper.model_path(settings).name}"
    return "openai_compatible"


def _moonshine(settings: ModelSettings, used: str | None) -> Iterator[Entry]:
    if find_spec("moonshine_voice") is None:
        yield Entry(f"moonshine/{BUNDLED}", "speech", "en", "needs pip install 'towpath[local]'")
        return
    here = {model.name for model in installed(settings)}
    for model in published():
        name = f"moonshine/{model.name}"
        state = "in use" if name == used else "installed" if model.name in here else "can be pulled"
        yield Entry(name, "speech", model.language, state, model.licence)


def _whisper(settings: ModelSettings, used: str | None) -> Iterator[Entry]:
    missing = "" if find_spec("faster_whisper") else "needs pip install 'towpath[whisper]'"
    for model in WHISPER_MODELS:
        name = f"whisper/{model}"
        here = (models_dir(settings) / "whisper" / model / "model.bin").is_file()
        state = "in use" if name == used else "installed" if here else "can be pulled"
        yield Entry(name, "speech", "en" if model.endswith(".en") else "many", state, missing or "MIT")


def _services(settings: ModelSettings, used: str | None) -> Iterator[Entry]:
    if settings.speech_url:
        state = "in use" if used == "openai_compatible" else "configured"
        yield Entry(settings.speech_model or "whisper-1", "speech service", "as the service", state, settings.speech_url)
    if settings.chat_url:
        yield Entry(settings.chat_model or "–", "chat service", "as the service", "in use", settings.chat_url)


def _voices(settings: ModelSettings) -> Entry:
    state = "in use" if weights_path(settings).is_file() else "can be pulled"
    return Entry(SPEAKERS, "voices", "any", state, "Apache-2.0; without it, voices are told apart by pitch and spectrum")


def _embeddings() -> Entry:
    state = "in use" if find_spec("wordllama") else "needs pip install 'towpath[local]'"
    return Entry(embeddings.NAME, "embeddings", "many", state, "MIT")
