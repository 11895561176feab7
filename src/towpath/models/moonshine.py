"""Moonshine: hears on this machine, offline; English is in its wheel, other languages can be pulled.

The library's voice detector finds where somebody speaks, and only that is given to the recogniser: on silence or noise it
would make up words. The detector keeps a memory from call to call; the recogniser runs without it, so that a window's
words do not hang on what was heard before.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, SchemaInvalid
from towpath.models.languages import primary
from towpath.models.moonshine_files import SIZES, Model, installed, named
from towpath.models.settings import ModelSettings
from towpath.models.speech import SAMPLE_RATE, Segment
from towpath.models.utterances import Span, utterances

if TYPE_CHECKING:
    from towpath.models.speech import Samples

_PADDING = SAMPLE_RATE // 2  # the recogniser fails on less than this
_QUIET = {"return_audio_data": "false"}


class Moonshine:
    """One per process and model. The library is not made for two threads at once, so they take turns."""

    tells_speakers = True

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._detector = _load(model, {"skip_transcription": "true"})
        self._recogniser = _load(model, {"vad_threshold": "0.0"})
        self._diarist: Any = None  # loaded by the first that asks for speakers

    @property
    def name(self) -> str:
        return f"moonshine/{self._model.name}"

    @property
    def languages(self) -> frozenset[str]:
        return frozenset({self._model.language})

    def transcribe(self, samples: Samples, *, language: str | None = None, speakers: bool = False) -> list[Segment]:
        if primary(language) not in (None, self._model.language):
            raise SchemaInvalid(f"{self.name} does not hear {language!r}", path="language")
        heard = _finite(samples)
        with self._lock:
            if speakers:
                return self._with_speakers(heard)
            return [segment for span in self._spans(heard) if (segment := self._hear(heard, span))]

    def _spans(self, samples: Samples) -> list[Span]:
        """Where somebody speaks. Half a second of silence after the end lets the detector end its last word."""
        lines = self._detector.transcribe_without_streaming(_filled(samples, len(samples) + _PADDING)).lines
        found = [Span(line.start_time, line.start_time + line.duration) for line in lines]
        return utterances(found, len(samples) / SAMPLE_RATE)

    def _hear(self, samples: Samples, span: Span) -> Segment | None:
        piece = samples[round(span.start * SAMPLE_RATE) : round(span.end * SAMPLE_RATE)]
        lines = self._recogniser.transcribe_without_streaming(_filled(piece, _PADDING)).lines
        text = " ".join(" ".join(line.text for line in lines).split())
        return Segment(round(span.start, 3), round(span.end, 3), text) if text else None

    def _with_speakers(self, samples: Samples) -> list[Segment]:
        from towpath.models.speakers import told_apart

        if self._diarist is None:
            self._diarist = _load(self._model, {"identify_speakers": "true"})
        lines = self._diarist.transcribe_without_streaming(_filled(samples, len(samples) + _PADDING)).lines
        return told_apart(lines, len(samples) / SAMPLE_RATE)


_engines: dict[Model, Moonshine] = {}
_loading = threading.Lock()


def engine(settings: ModelSettings, language: str | None) -> Moonshine:
    model = choose(settings, language)
    with _loading:
        if model not in _engines:
            _engines[model] = Moonshine(model)
        return _engines[model]


def check(settings: ModelSettings, language: str | None) -> str:
    return choose(settings, language).language


def choose(settings: ModelSettings, language: str | None) -> Model:
    """The named model where it hears the language, else the best one here that does."""
    wanted, preferred = primary(language), named(settings)
    if preferred is not None and wanted in (None, preferred.language):
        return preferred
    models = installed(settings)
    for model in models:
        if model.language == (wanted or "en"):
            return model
    raise _unheard(str(wanted), sorted({model.language for model in models}))


def _unheard(language: str, heard: list[str]) -> SchemaInvalid:
    from towpath.models.moonshine_catalog import published

    there = [model.name for model in published() if model.language == language]
    ways = f"run towpath models pull moonshine/{there[0]}, " if there else ""
    return SchemaInvalid(
        f"no speech model on this machine hears {language!r}; the installed ones hear {', '.join(heard)}",
        path="language",
        remedy=f"{ways}{'or ' if ways else ''}install the extra that hears most languages (pip install 'towpath[whisper]', "
        "TOWPATH_SPEECH_ENGINE=faster_whisper), or name a speech service with TOWPATH_SPEECH_URL",
    )


def _load(model: Model, options: dict[str, str]) -> Any:
    try:
        from moonshine_voice import MoonshineError, Transcriber  # type: ignore[import-untyped]  # ships no types
        from moonshine_voice.moonshine_api import ModelArch  # type: ignore[import-untyped]  # ships no types
    except (ImportError, OSError) as error:
        raise ConfigurationError(
            f"Moonshine cannot be loaded ({error}); install it again with pip install 'towpath[local]'"
        ) from error
    try:
        return Transcriber(str(model.path), ModelArch(SIZES.index(model.size)), options=_QUIET | options)
    except MoonshineError as error:
        raise ConfigurationError(
            f"the speech model in {model.path} cannot be loaded ({error}); "
            f"pull it again with towpath models pull --force moonshine/{model.name}"
        ) from error


def _finite(samples: Samples) -> Samples:
    import numpy as np

    return np.nan_to_num(np.asarray(samples, dtype=np.float32), posinf=0.0, neginf=0.0)


def _filled(samples: Samples, length: int) -> list[float]:
    """At least so many samples, silence after them, as the library takes them."""
    values: list[float] = samples.tolist()
    return values + [0.0] * (length - len(values))


def _forget() -> None:
    """A forked child has none of the threads the library works with: it loads its own."""
    global _loading  # noqa: PLW0603  # the parent may have held it while it forked
    _engines.clear()
    _loading = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
