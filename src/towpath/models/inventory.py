"""Every model that could be used here, and whether it is on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from towpath.core.errors import ConfigurationError, OperationError
from towpath.models import embeddings, speech
from towpath.models.languages import WHISPER
from towpath.models.moonshine_catalog import files_of, published
from towpath.models.moonshine_files import BUNDLED, installed
from towpath.models.pulling import WHISPER_MODELS
from towpath.models.settings import ModelSettings, models_dir
from towpath.models.voices.encoder import weights_path
from towpath.models.voices.fetching import NAME as SPEAKERS

WITHOUT_LIBRARY = "needs pip install "
_MEGABYTE = 1_000_000
_WHISPER_MEGABYTES = {"tiny": 76, "base": 145, "small": 484, "medium": 1528, "large-v3": 3090}
"""As they are published; their English kin are as large."""
_ENCODER_BYTES = 17 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Entry:
    """`state` is `in use`, `installed`, `can be pulled` or what is missing."""

    name: str
    kind: str
    languages: str
    state: str
    note: str = ""
    bytes: int | None = None
    """On the machine, or to be fetched; about that for models of Whisper that are not here."""
    hears: tuple[str, ...] | None = None
    """Tags of languages, of what hears."""
    detects: bool = False
    """Whether it finds out by itself which of them is spoken."""
    pulled: bool = False
    """Whether it was fetched here, and so can be removed."""


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


def heard_by(settings: ModelSettings) -> tuple[tuple[str, ...], bool]:
    """The languages of which one can be chosen with these settings, and whether one need not be."""
    try:
        engine = speech.engine_name(settings)
        if engine == "moonshine":
            return tuple(sorted({model.language for model in installed(settings)})), False
    except ConfigurationError:
        return (), False
    used = in_use(settings)
    if used is None:
        return (), False
    return _of_whisper(used.partition("/")[2])


def size_of(name: str) -> int | None:
    """Bytes to be fetched; None if nobody knows."""
    engine, _, model = name.partition("/")
    if name == SPEAKERS:
        return _ENCODER_BYTES
    if engine == "whisper":
        return _whisper_bytes(model)
    if engine == "moonshine" and find_spec("moonshine_voice") is not None:
        for item in published():
            if item.name == model:
                sizes = [file.bytes for file in files_of(item)]
                return None if None in sizes else sum(size for size in sizes if size is not None)
    return None


def _whisper_bytes(model: str) -> int | None:
    megabytes = _WHISPER_MEGABYTES.get(model.removesuffix(".en"))
    return None if megabytes is None else megabytes * _MEGABYTE


def _of_whisper(model: str) -> tuple[tuple[str, ...], bool]:
    return (("en",), False) if model.endswith(".en") else (tuple(WHISPER), True)


def _moonshine(settings: ModelSettings, used: str | None) -> Iterator[Entry]:
    if find_spec("moonshine_voice") is None:
        yield Entry(f"moonshine/{BUNDLED}", "speech", "en", f"{WITHOUT_LIBRARY}'towpath[local]'")
        return
    here = {model.name: model.path for model in installed(settings)}
    pulled = models_dir(settings) / "moonshine"
    for model in sorted(published(), key=lambda one: (one.language != "en", one.language, one.size)):
        name = f"moonshine/{model.name}"
        state = "in use" if name == used else "installed" if model.name in here else "can be pulled"
        yield Entry(
            name, "speech", model.language, state, model.licence, hears=(model.language,),
            bytes=_bytes_in(here[model.name]) if model.name in here else size_of(name),
            pulled=(pulled / model.name).is_dir() and model.name in here,
        )  # fmt: skip


def _whisper(settings: ModelSettings, used: str | None) -> Iterator[Entry]:
    missing = "" if find_spec("faster_whisper") else f"{WITHOUT_LIBRARY}'towpath[whisper]'"
    for model in WHISPER_MODELS:
        name, folder = f"whisper/{model}", models_dir(settings) / "whisper" / model
        here = (folder / "model.bin").is_file()
        state = "in use" if name == used else "installed" if here else "can be pulled"
        hears, detects = _of_whisper(model)
        yield Entry(
            name, "speech", "en" if model.endswith(".en") else "many", state, missing or "MIT", hears=hears, detects=detects,
            bytes=_bytes_in(folder) if here else _whisper_bytes(model), pulled=here,
        )  # fmt: skip


def _services(settings: ModelSettings, used: str | None) -> Iterator[Entry]:
    if settings.speech_url:
        state = "in use" if used == "openai_compatible" else "configured"
        yield Entry(
            settings.speech_model or "whisper-1", "speech service", "as the service", state, settings.speech_url,
            hears=tuple(WHISPER), detects=True,
        )  # fmt: skip
    if settings.chat_url:
        yield Entry(settings.chat_model or "–", "chat service", "as the service", "in use", settings.chat_url)


def _voices(settings: ModelSettings) -> Entry:
    path = weights_path(settings)
    here = path.is_file()
    return Entry(
        SPEAKERS, "voices", "any", "in use" if here else "can be pulled",
        "Apache-2.0; without it, voices are told apart by pitch and spectrum",
        bytes=_bytes_in(path.parent) if here else _ENCODER_BYTES, pulled=here,
    )  # fmt: skip


def _embeddings() -> Entry:
    state = "in use" if find_spec("wordllama") else f"{WITHOUT_LIBRARY}'towpath[local]'"
    return Entry(embeddings.NAME, "embeddings", "many", state, "MIT")


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
