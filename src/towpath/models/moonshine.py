"""Moonshine: hears on this machine, offline; English is in its wheel, other languages can be pulled.

The library's voice detector finds where somebody speaks, and only that is given to the recogniser: on silence or noise it
would make up words. The detector keeps a memory from call to call; the recogniser runs without it, so that a window's
words do not hang on what was heard before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from towpath.core.errors import SchemaInvalid
from towpath.models.languages import primary
from towpath.models.moonshine_files import Model, installed, named
from towpath.models.moonshine_library import lines_of, load
from towpath.models.settings import ModelSettings
from towpath.models.speech import SAMPLE_RATE, Segment
from towpath.models.utterances import PAUSE, Span, utterances

if TYPE_CHECKING:
    from towpath.models.speech import Samples
    from towpath.models.voices.prints import Voices

_PADDING = SAMPLE_RATE // 2  # the recogniser fails on less than this
_BREATH = 0.25  # seconds; after a longer pause it may be somebody else who speaks
_detecting = threading.Lock()
"""All detectors of a process share one memory, also those of different models: one at a time."""


class Recognisers:
    """As many as hear at once, at most one for each core; each is for one thread at a time and needs some 100 MB."""

    def __init__(self, model: Model, most: int) -> None:
        self._model = model
        self._free = threading.Semaphore(most)
        self._idle: list[Any] = [load(model, _WITHOUT_DETECTOR)]  # a damaged model is told of at once

    @contextmanager
    def one(self) -> Iterator[Any]:
        with self._free:
            recogniser = self._idle.pop() if self._idle else load(self._model, _WITHOUT_DETECTOR)
            try:
                yield recogniser
            finally:
                self._idle.append(recogniser)


_WITHOUT_DETECTOR = {"vad_threshold": "0.0"}


def _cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Moonshine:
    """One per process and model. Threads take turns to find out where somebody speaks, and hear side by side."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._detector = load(model, {"skip_transcription": "true"})
        self._recognisers = Recognisers(model, _cores())

    @property
    def name(self) -> str:
        return f"moonshine/{self._model.name}"

    @property
    def languages(self) -> frozenset[str]:
        return frozenset({self._model.language})

    def transcribe(self, samples: Samples, *, language: str | None = None, voices: Voices | None = None) -> list[Segment]:
        if primary(language) not in (None, self._model.language):
            raise SchemaInvalid(f"{self.name} does not hear {language!r}", path="language")
        heard = _finite(samples)
        spans = self._spans(heard) if voices is None else voices.cut(self._spans(heard, pause=_BREATH))
        if not spans:
            return []
        with self._recognisers.one() as recogniser:
            return [segment for span in spans if (segment := _hear(recogniser, heard, span))]

    def _spans(self, samples: Samples, pause: float = PAUSE) -> list[Span]:
        """Where somebody speaks. Half a second of silence after the end lets the detector end its last word."""
        with _detecting:
            lines = lines_of(self._detector, samples, len(samples) + _PADDING)
        found = [Span(line.start_time, line.start_time + line.duration) for line in lines]
        return utterances(found, len(samples) / SAMPLE_RATE, pause=pause)


def _hear(recogniser: Any, samples: Samples, span: Span) -> Segment | None:
    piece = samples[round(span.start * SAMPLE_RATE) : round(span.end * SAMPLE_RATE)]
    lines = lines_of(recogniser, piece, _PADDING)
    text = " ".join(" ".join(line.text for line in lines).split())
    return Segment(round(span.start, 3), round(span.end, 3), text) if text else None


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
    name = f"moonshine/{there[0]}" if there else ""
    ways = f"pull {name} in Settings → Models or with towpath models pull {name}, or " if there else ""
    return SchemaInvalid(
        f"no speech model on this machine hears {language!r}; the installed ones hear {', '.join(heard)}",
        path="language",
        remedy=f"{ways}add a speech service in Settings → Models (or name it with TOWPATH_SPEECH_URL), or install "
        "the extra that hears most languages (pip install 'towpath[whisper]', TOWPATH_SPEECH_ENGINE=faster_whisper)",
    )


def _finite(samples: Samples) -> Samples:
    import numpy as np

    return np.nan_to_num(np.asarray(samples, dtype=np.float32), posinf=0.0, neginf=0.0)


def _forget() -> None:
    """A forked child has none of the threads the library works with: it loads its own."""
    global _loading, _detecting  # the parent may have held them while it forked
    _engines.clear()
    _loading, _detecting = threading.Lock(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
