"""When a recording will be done: from how fast this machine has been, and what comes first. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Bytes per second of audio, as people's files have them. Only until the audio has been decoded.
_USUAL_RATE = {"audio/wav": 176_400.0, "audio/flac": 90_000.0, "audio/amr": 1_600.0, "audio/ogg": 12_000.0}
_OTHER_RATE = 16_000.0
_VIDEO_RATE = 250_000.0
_LEAST, _MOST = 0.6, 1.8
"""What happens beside it is not known, so an estimate is a range."""

NO_HISTORY = "nothing has been transcribed here yet, so there is no speed to estimate by"


@dataclass(frozen=True, slots=True)
class Ahead:
    """A recording that is not transcribed yet: all of its seconds, and those that are done."""

    seconds: float
    done: float = 0.0
    speakers: bool = False

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - self.done)


def seconds_of(duration: float | None, size: int, media_type: str) -> float:
    """The length of a recording, or a guess from its size while nobody has decoded it."""
    if duration is not None:
        return duration
    rate = _VIDEO_RATE if media_type.startswith("video/") else _USUAL_RATE.get(media_type, _OTHER_RATE)
    return size / rate


def speed(rows: Sequence[tuple[float, float]]) -> float | None:
    """Seconds of audio per second, from sums of both; None while nothing was measured."""
    audio, wall = sum(row[0] for row in rows), sum(row[1] for row in rows)
    return audio / wall if wall > 0 and audio > 0 else None


@dataclass(frozen=True, slots=True)
class Speeds:
    """Telling speakers apart can take thirty times as long, so it has a speed of its own."""

    plain: float | None
    speakers: float | None

    def of(self, one: Ahead) -> float | None:
        return self.speakers if one.speakers else self.plain


def estimate(own: Ahead, before: Sequence[Ahead], speeds: Speeds) -> tuple[float, float] | None:
    """Seconds until it is done, at least and at most; None without a known speed. Never 0 while something is left."""
    expected = 0.0
    for one in (own, *before):
        rate = speeds.of(one)
        if rate is None:
            return None
        expected += one.left / rate
    return _rounded(expected * _LEAST), _rounded(expected * _MOST)


def _rounded(seconds: float) -> float:
    """To three digits, wherever they are: a fast machine's short recordings take hundredths of a second."""
    return float(f"{seconds:.3g}")
