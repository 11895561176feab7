"""How long things take, and when there is no telling: lengths, speeds, ranges and reasons. Nothing here does I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from towpath.core.forecast import Parts
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
_SLACK = 0.5
"""Seconds that nobody has counted: a claim, a commit, a machine that is busy."""
_LEAST_LEFT = 0.2
"""Of what has run for longer than it should have, so much is still to come, as a part of what it has taken."""

NO_SPEED = "nothing has been transcribed here yet, so there is no speed to estimate by"
NO_SUMMARY = "no summary was written here yet, so there is nothing to estimate by"
TOO_FAR = "too much is before it to say when it will be done"
STUCK = "it waits for something that is not in the queue"


class Basis(Enum):
    """What a speed was taken from, and how far from the truth that may be: at least and at most so much of the estimate."""

    OWN = (0.65, 2.2)
    RECENT = (0.65, 2.5)
    KNOWN = (0.2, 4.0)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of audio that one slot hears in a second."""

    speed: float
    basis: Basis


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


@dataclass(frozen=True, slots=True)
class Hands:
    """Who works on a queue: slots of live workers that serve it, and of those that know how."""

    queue: str
    paused: bool = False
    slots: int = 0
    able: int = 0
    most: int | None = None

    @property
    def hindrance(self) -> str | None:
        """Why nothing is begun now."""
        if self.paused:
            return f"the queue {self.queue!r} is paused"
        if self.most == 0:
            return f"the queue {self.queue!r} may run no jobs: its cap is 0"
        if not self.slots:
            return f"no live worker serves the queue {self.queue!r}"
        if not self.able:
            return f"no live worker of the queue {self.queue!r} knows this kind of work"
        return None

    @property
    def working(self) -> int:
        """The slots that really work; while none does, as if one did: the order is the same."""
        return max(1, self.able if self.most is None else min(self.able, self.most))


@dataclass(frozen=True, slots=True)
class Outlook:
    """Seconds until it is done, at least and at most, or why that cannot be said."""

    seconds: tuple[float, float] | None
    reason: str | None = None


def outlook(
    end: float | None,
    pace: Pace | None,
    hands: Hands,
    *,
    crowded: float = 0.0,
    unknown: str = NO_SPEED,
    begun: bool = False,
) -> Outlook:
    """`end` is when it is done if all goes as it has, None if that is not in sight; `crowded` if others send more."""
    if hands.hindrance is not None:
        return Outlook(None, hands.hindrance)
    if pace is None:
        return Outlook(None, unknown)
    if end is None:
        return Outlook(None, STUCK if begun else TOO_FAR)
    least, most = pace.basis.value
    soonest = max(end * least - _SLACK, end * _LEAST_LEFT / 2)
    return Outlook((_rounded(soonest), _rounded(max(end * most, crowded) + _SLACK)))


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


def left(whole: float, elapsed: float) -> float:
    """Of something that usually takes `whole` seconds and has run for a while. Never nothing."""
    return max(whole - elapsed, _LEAST_LEFT * max(whole, elapsed), 0.001)


def _rounded(seconds: float) -> float:
    """To three digits, wherever they are: a fast machine's short recordings take hundredths of a second."""
    return float(f"{seconds:.3g}")
