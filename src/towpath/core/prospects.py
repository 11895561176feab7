"""What can be said to whoever waits: a place in line and a range of seconds, or a reason. Nothing here does I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from towpath.core.forecast import Parts

Between = tuple[float, float]
"""What makes a range of an estimate: so many times the seconds estimated it takes at least, and so many times at most."""

OWN: Between = (0.65, 2.2)
"""For estimates by what this very run has shown: children that are done, or the progress that it tells."""

_SLACK = 0.5
"""Seconds that nobody has counted: a claim, a commit, a machine that is busy."""
_LEAST_LEFT = 0.2
"""The least that is taken to be left of something that runs, as a part of the whole, or of the time it has taken if that is
longer: what has run over its estimate is not done because of that."""

TOO_FAR = "too much is before it to say when it will be done"
STUCK = "it waits for something that is not in the queue"


@dataclass(frozen=True, slots=True)
class InLine:
    """A job that waits or is under way, as whoever knows its kind of work is asked about it."""

    job_id: str
    subject_id: str
    operation: str


@dataclass(frozen=True, slots=True)
class Work:
    """What a job takes, in seconds of one slot.

    `seconds` is its own run, up to its end or until it has made its `parts`; after those it runs once more, for `closing`
    seconds. `between` is how far from the truth that may be. If nobody can say how long it is, `reason` says why, and the
    rest is only good for telling the order.
    """

    MEASURED: ClassVar[Between] = (0.65, 2.5)
    """For estimates by what was measured here lately."""
    KNOWN: ClassVar[Between] = (0.2, 4.0)
    """For estimates by what is known from elsewhere, was guessed, or was seen only a few times."""

    seconds: float
    parts: Parts | None = None
    closing: float = 0.0
    between: Between = MEASURED
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Prospect:
    """`position`: how many subjects are begun before this one, and one; None if it is begun, or not in line. `eta`: seconds
    until it is done, at least and at most; None with the reason why that cannot be said."""

    position: int | None
    is_more: bool
    """Whether more than that are before it."""
    eta: tuple[float, float] | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Workforce:
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


def eta(end: float, between: Between, crowded: float = 0.0) -> tuple[float, float]:
    """The range in which it is done, in seconds from now. `end` is when that is if nothing comes to the queue, `crowded` if
    others go on sending."""
    least, most = between
    soonest = max(end * least - _SLACK, end * _LEAST_LEFT / 2)
    return _rounded(soonest), _rounded(max(end * most, crowded) + _SLACK)


def left(whole: float, elapsed: float) -> float:
    """Of something that usually takes `whole` seconds and has run for a while. Never nothing."""
    return max(whole - elapsed, _LEAST_LEFT * max(whole, elapsed), 0.001)


def _rounded(seconds: float) -> float:
    """To three digits, wherever they are: a fast machine's short jobs take hundredths of a second."""
    return float(f"{seconds:.3g}")
