"""Whether a recogniser of one language was given that language, told from what it writes.

Given another one it does not fall silent: it makes up fluent sentences of its own language, which no look at the words finds
out. But it makes them up anew when the same speech is a little faster or slower, while what was really said stays what it
was. So some seconds are heard a second time, and in doubt a third, and the words are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from towpath.models.speech import SAMPLE_RATE, Segment, SpeechEngine

if TYPE_CHECKING:
    from towpath.models.speech import Samples

LONGEST = 22.0
"""Seconds that are heard again."""
_FEWEST_WORDS = 8
_FASTER, _SLOWER = 1.06, 0.94
_SURE = 0.8
"""From here on a second hearing is enough."""
_VARIED = 0.7
"""So many of some dozens of words are different ones. What is made up goes in circles, and steadily at times."""
STEADY = 0.45
"""Below it, on average, it was another language."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # people's apostrophes
_NAMES = {
    "en": "English", "es": "Spanish", "ar": "Arabic", "ja": "Japanese", "ko": "Korean", "uk": "Ukrainian",
    "vi": "Vietnamese", "zh": "Chinese", "de": "German", "fr": "French",
}  # fmt: skip


def language_of(engine: SpeechEngine) -> str | None:
    """The only language it hears, if there is only one."""
    known = engine.languages
    return next(iter(known)) if known is not None and len(known) == 1 else None


def steadiness(engine: SpeechEngine, samples: Samples, heard: Sequence[Segment]) -> float | None:
    """How much of what was heard is heard again, from 0 to 1, less where it repeats itself; None if too little was said to
    tell. Blocks."""
    said = _first(heard)
    words = _words(said)
    if len(words) < _FEWEST_WORDS:
        return None
    piece = samples[round(said[0].start * SAMPLE_RATE) : round(said[-1].end * SAMPLE_RATE)]
    varied = min(1.0, len(set(words)) / len(words) / _VARIED)
    faster = _alike(words, _words(engine.transcribe(_paced(piece, _FASTER))))
    if faster * varied >= _SURE:
        return faster * varied
    return varied * (faster + _alike(words, _words(engine.transcribe(_paced(piece, _SLOWER))))) / 2


def remark(language: str, found: Sequence[float]) -> str | None:
    """What people should know, if what was heard again is not what was heard."""
    if not found or sum(found) / len(found) >= STEADY:
        return None
    name = _NAMES.get(language, language)
    return (
        f"this does not read like {name}, and the model that heard it knows nothing else; process it again with a model "
        "that hears the language that is spoken (more of them can be pulled in Settings → Models)"
    )


def _first(heard: Sequence[Segment]) -> list[Segment]:
    found: list[Segment] = []
    for segment in heard:
        if found and segment.end - found[0].start > LONGEST:
            break
        found.append(segment)
    return found


def _words(segments: Sequence[Segment]) -> list[str]:
    return [word for segment in segments for word in _WORD.findall(segment.text.lower())]


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _paced(samples: Samples, times: float) -> Samples:
    """The same, so many times as fast, and as much higher."""
    import numpy as np

    moments = np.arange(0, max(1, len(samples) - 1), times)
    paced: Samples = np.interp(moments, np.arange(len(samples)), samples).astype(np.float32)
    return paced
