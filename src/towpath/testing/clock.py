"""A clock that stands still until it is told to move."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

_START = datetime(2030, 1, 1, tzinfo=UTC)


class FakeClock:
    """The time of an app on SQLite: `App("sqlite:///jobs.db", clock=FakeClock())`.

    Everything the engine decides by time obeys it: due times, backoff, sleeps, leases, schedules. The timeout of a
    running operation does not, because that is real work taking real time. PostgreSQL keeps its own time.
    """

    def __init__(self, start: datetime = _START) -> None:
        if start.tzinfo is None:
            raise ValueError(f"start must have a time zone, e.g. datetime(2030, 1, 1, tzinfo=UTC), got {start!r}")
        self._seconds = start.timestamp()
        self._lock = threading.Lock()

    def __call__(self) -> float:
        return self._seconds

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self._seconds, UTC)

    def advance(self, by: float | timedelta) -> datetime:
        """Moves on by so many seconds; answers the new time."""
        seconds = by.total_seconds() if isinstance(by, timedelta) else float(by)
        if not seconds >= 0:
            raise ValueError(f"a clock moves forward only, got {by!r}")
        with self._lock:
            self._seconds += seconds
        return self.now

    def advance_to(self, moment: datetime) -> datetime:
        """Moves on to `moment`; nothing happens if that has passed already."""
        with self._lock:
            self._seconds = max(self._seconds, moment.timestamp())
        return self.now
