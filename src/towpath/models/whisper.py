"""Whisper on this machine by faster-whisper: an extra, for the languages that Moonshine does not hear."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, SchemaInvalid
from towpath.models.languages import WHISPER, detected, primary
from towpath.models.settings import ModelSettings, models_dir
from towpath.models.speech import Segment

if TYPE_CHECKING:
    from towpath.models.speech import Samples
    from towpath.models.voices.prints import Voices

USUAL_MODEL = "small"
OPENING: dict[str, Any] = {"device": "auto", "compute_type": "default", "local_files_only": True}
HEARING: dict[str, Any] = {"vad_filter": True, "condition_on_previous_text": False}


class Whisper:
    """One per process and model; windows are heard one after the other."""

    def __init__(self, path: Path) -> None:
        from faster_whisper import WhisperModel  # type: ignore[import-not-found,import-untyped,unused-ignore]  # an extra

        self._path, self._lock = path, threading.Lock()
        try:
            self._model: Any = WhisperModel(str(path), **OPENING)
        except RuntimeError as error:
            raise ConfigurationError(
                f"the speech model in {path} cannot be loaded ({error}); "
                f"pull it again with towpath models pull --force whisper/{path.name}"
            ) from error

    @property
    def name(self) -> str:
        return f"whisper/{self._path.name}"

    @property
    def languages(self) -> frozenset[str] | None:
        return frozenset({"en"}) if self._path.name.endswith(".en") else None

    def transcribe(self, samples: Samples, *, language: str | None = None, voices: Voices | None = None) -> list[Segment]:
        with self._lock:
            heard, told = self._model.transcribe(samples, language=primary(language), **HEARING)
            spoken = detected(getattr(told, "language", None))
            found = [
                Segment(round(item.start, 3), round(item.end, 3), " ".join(item.text.split()), language=spoken)
                for item in heard
            ]
        return [segment for segment in found if segment.text]


_engines: dict[Path, Whisper] = {}
_loading = threading.Lock()


def engine(settings: ModelSettings, language: str | None) -> Whisper:
    check(settings, language)
    path = model_path(settings)
    with _loading:
        if path not in _engines:
            _engines[path] = Whisper(path)
        return _engines[path]


def check(settings: ModelSettings, language: str | None) -> str | None:
    if find_spec("faster_whisper") is None:
        raise ConfigurationError(
            "TOWPATH_SPEECH_ENGINE=faster_whisper needs an extra that is not installed: pip install 'towpath[whisper]'"
        )
    wanted, path = primary(language), model_path(settings)
    if not (path / "model.bin").is_file():
        raise ConfigurationError(
            f"the Whisper model {path.name!r} is not on this machine (looked in {path}); "
            f"run towpath models pull whisper/{path.name}, or name another with TOWPATH_SPEECH_MODEL"
        )
    if wanted not in (None, "en") and path.name.endswith(".en"):
        raise SchemaInvalid(
            f"the Whisper model {path.name!r} hears English only, not {wanted!r}",
            path="language",
            remedy=f"choose a model that hears it: pull whisper/{path.name.removesuffix('.en')} in Settings → Models or "
            "with towpath models pull",
        )
    if wanted is not None and wanted not in WHISPER:
        raise SchemaInvalid(
            f"Whisper does not hear {wanted!r}", path="language", remedy=f"it hears {', '.join(sorted(WHISPER))}"
        )  # fmt: skip
    return wanted


def model_path(settings: ModelSettings) -> Path:
    """A pulled model by name, or any directory that holds one."""
    wanted = settings.speech_model.removeprefix("whisper/") or USUAL_MODEL
    given = Path(wanted)
    return given if (given / "model.bin").is_file() else models_dir(settings) / "whisper" / given.name
