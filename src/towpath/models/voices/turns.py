"""Where the voice changes within speech that no pause divides.

At every moment what comes before is compared with what comes after it. Where the two differ by far more than one voice's
speech does from one second to the next, somebody else has begun to speak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from towpath.models.utterances import Span
from towpath.models.voices.traits import PER_SECOND, Frames, usual_variances

_REACH = 2 * PER_SECOND
"""Frames that are looked at on either side."""
_SHORTEST = 70
"""Frames of a turn; a shorter one is taken for a part of its neighbour's."""
_STEP = 5
_SNAP = 25
"""Frames within which the quietest moment is taken for the change."""
_DIFFERENT = 3.5
"""How often the usual variance the difference has, on the average of all traits."""
_MEASURED = 105.0
"""Loud frames of the stretches whose variance is the usual one."""


def cut(frames: Frames, spans: Iterable[Span]) -> list[Span]:
    """The spans, each in as many parts as there are turns in it. Nothing of them is left out."""
    return [part for span in spans for part in _parts(frames, span)]


def _parts(frames: Frames, span: Span) -> Iterator[Span]:
    first, last = (min(len(frames), round(moment * PER_SECOND)) for moment in (span.start, span.end))
    edges = [span.start, *(at / PER_SECOND for at in _changes(_Sums(frames, first, last), 0, last - first, first)), span.end]
    for start, end in pairwise(edges):
        yield Span(start, end)


def _changes(sums: _Sums, first: int, last: int, offset: int) -> list[int]:
    """In order; the clearest change is found first, and then those on either side of it."""
    if last - first < 2 * _SHORTEST:
        return []
    scores = {at: sums.difference(first, at, last) for at in range(first + _SHORTEST, last - _SHORTEST + 1, _STEP)}
    at = max(scores, key=lambda moment: scores[moment])
    if scores[at] < _DIFFERENT:
        return []
    at = sums.quietest(max(first + _SHORTEST, at - _SNAP), min(last - _SHORTEST, at + _SNAP))
    return [*_changes(sums, first, at, offset), at + offset, *_changes(sums, at, last, offset)]


class _Sums:
    """Of the loud frames of a span, added up from its beginning, so that the mean of any stretch is a subtraction."""

    def __init__(self, frames: Frames, first: int, last: int) -> None:
        import numpy as np

        self._loudness = frames.loudness[first:last]
        loud = self._loudness >= (np.quantile(self._loudness, 0.3) if len(self._loudness) else 0.0)
        voiced = loud & np.isfinite(frames.pitch[first:last])
        self._shapes = _added(frames.shapes[first:last] * loud[:, None])
        self._loud = _added(loud.astype(np.float32))
        self._pitch = _added(np.where(voiced, frames.pitch[first:last], 0.0) * _OCTAVE)
        self._voiced = _added(voiced.astype(np.float32))
        self._variances = usual_variances()

    def difference(self, first: int, at: int, last: int) -> float:
        """Of what is before and after, in usual variances of so long a stretch."""
        before, after = (max(first, at - _REACH), at), (at, min(last, at + _REACH))
        loud = [self._loud[end] - self._loud[start] for start, end in (before, after)]
        if min(loud) < _SHORTEST / 4:
            return 0.0
        shapes = [
            (self._shapes[end] - self._shapes[start]) / count
            for (start, end), count in zip((before, after), loud, strict=True)
        ]
        of_mean = _MEASURED * sum(1 / count for count in loud)
        count = len(shapes[0])
        total = float((((shapes[0] - shapes[1]) ** 2) / self._variances[2 : 2 + count]).sum()) + self._of_pitch(
            before, after
        )
        return float(total / (count + _PITCH_COUNTS) / of_mean)

    def _of_pitch(self, before: tuple[int, int], after: tuple[int, int]) -> float:
        voiced = [self._voiced[end] - self._voiced[start] for start, end in (before, after)]
        if min(voiced) < _FEWEST_VOICED:
            return 0.0
        means = [
            (self._pitch[end] - self._pitch[start]) / count
            for (start, end), count in zip((before, after), voiced, strict=True)
        ]
        return float(_PITCH_COUNTS * (means[0] - means[1]) ** 2 / self._variances[0])

    def quietest(self, first: int, last: int) -> int:
        import numpy as np

        return first + int(np.argmin(self._loudness[first : last + 1])) if last > first else first


_OCTAVE = 6.0
_PITCH_COUNTS = 4
"""The pitch says as much as so many traits of the spectrum."""
_FEWEST_VOICED = 10


def _added(values: Any) -> Any:
    import numpy as np

    return np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
