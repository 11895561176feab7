"""Whether others have had their chance to beat, before anybody takes their jobs away.

A lease that has run out says that nothing was heard of its worker; not why. If the machine slept, if this process was
frozen, if the clock was moved or the database was away, then nobody could beat, and everybody's lease has run out at once.
So a janitor trusts the end of a lease only after it has looked on for a whole lease without such a gap. Decision 0021.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

_FORGIVEN = 0.5  # seconds of delay that happen on a busy machine


class Look(NamedTuple):
    at: float
    now: datetime  # the database's time


class Vigil:
    """Told of every look at the leases and of every beat of this worker, which a blocked event loop does not hold up. By our
    clock it sees that this process was frozen or the database away, by the database's that somebody moved that or that the
    machine slept, which our clock does not count."""

    def __init__(self, lease_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        # Leases are renewed when a third of them is over. A gap this long leaves time for the beat after it.
        self._gap = max(lease_seconds / 2, _FORGIVEN)
        self._clock = clock
        self._last: Look | None = None
        self._since = float("inf")
        self._lock = threading.Lock()  # a beat comes from a thread of its own

    def look(self, now: datetime) -> bool:
        """True if others could beat all the time since the last look; else the vigil begins anew."""
        with self._lock:
            look, last = Look(self._clock(), now), self._last
            unbroken = last is not None and self._could_beat(last, look)
            if not unbroken:
                self._since = look.at
            self._last = look
            return unbroken

    def _could_beat(self, last: Look, look: Look) -> bool:
        ours, theirs = look.at - last.at, (look.now - last.now).total_seconds()
        return max(ours, theirs, ours - theirs) <= self._gap

    @property
    def seconds(self) -> float:
        """How long there was no gap, up to the last look."""
        with self._lock:
            return self._last.at - self._since if self._last is not None else 0.0
