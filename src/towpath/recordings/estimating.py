"""How long recordings are, and how fast they are heard. Nothing here does I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from towpath import Parts
from towpath.recordings import merging

# Bytes per second of audio, as people's files have them. Only until the audio has been decoded.
_USUAL_RATE = {"audio/wav": 176_400.0, "audio/flac": 90_000.0, "audio/amr": 1_600.0, "audio/ogg": 12_000.0}
_OTHER_RATE = 16_000.0
_VIDEO_RATE = 250_000.0

_WINDOW = 30.0
DECODING = 300.0
"""Seconds of audio that are decoded in a second; what is left over is what a recording takes however short it is."""
_BEGINNING, _CLOSING = 0.2, 0.05
"""Seconds, until they were measured."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of audio that one slot hears in a second."""

    speed: float
    between: tuple[float, float]
    """How far from the truth that may be, see `Work.between`."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """Telling speakers apart can take thirty times as long, so it has a speed of its own."""

    plain: Pace | None
    speakers: Pace | None
    beginning: float = _BEGINNING
    """Seconds that a recording takes before its parts are made, besides decoding."""
    closing: float = _CLOSING
    """Seconds that it takes after its last part."""
    summary: Pace | None = None
    """Of summaries: how many one slot writes in a second."""

    def of(self, speakers: bool) -> Pace | None:
        return self.speakers if speakers else self.plain


def seconds_of(duration: float | None, stated: float | None, size: int, media_type: str) -> float:
    """The length of a recording; while nobody has decoded it, what its file says, or a guess from its size."""
    known = stated if duration is None else duration
    if known is not None:
        return known
    rate = _VIDEO_RATE if media_type.startswith("video/") else _USUAL_RATE.get(media_type, _OTHER_RATE)
    return size / rate


def speed(rows: Sequence[tuple[float, float]]) -> float | None:
    """So much per second, from sums of both; None while nothing was measured."""
    amount, wall = sum(row[0] for row in rows), sum(row[1] for row in rows)
    return amount / wall if wall > 0 and amount > 0 else None


def parts_of(seconds: float, pace: Pace) -> Parts:
    """The child jobs that a recording of this length becomes."""
    count = merging.number_of_groups(max(1, math.ceil(seconds / _WINDOW)))
    return Parts(count, max(1.0, seconds / count), seconds / count / pace.speed)
