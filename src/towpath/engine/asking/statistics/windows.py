"""The spans of time that statistics are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Window:
    """`width` is what one point of its course stands for: no finer than what is known of its whole length, and of the
    same length before it."""

    name: str
    length: timedelta
    width: timedelta

    @property
    def by_minutes(self) -> bool:
        """Some things are known by the minute for a few hours, and by the quarter of an hour after that."""
        return self.width < timedelta(minutes=15)

    def span(self, now: datetime) -> Span:
        width = self.width.total_seconds()
        newest = now.timestamp() // width
        points = round(self.length / self.width)
        return Span(self, int(newest) - points + 1, points)


@dataclass(frozen=True, slots=True)
class Span:
    """A window that ends with the slot that is now. Slots are counted from 1970."""

    window: Window
    first: int
    points: int

    @property
    def slots(self) -> range:
        return range(self.first, self.first + self.points)

    @property
    def since(self) -> datetime:
        return self.moment(self.first)

    @property
    def until(self) -> datetime:
        return self.moment(self.first + self.points)

    def moment(self, slot: int) -> datetime:
        return datetime.fromtimestamp(slot * self.window.width.total_seconds(), UTC)

    def slot(self, moment: datetime) -> int:
        return int(moment.timestamp() // self.window.width.total_seconds())

    @property
    def before(self) -> Span:
        """The span of the same length that ended where this one begins."""
        return Span(self.window, self.first - self.points, self.points)


WINDOWS = {
    window.name: window
    for window in (
        Window("1h", timedelta(hours=1), timedelta(minutes=1)),
        Window("24h", timedelta(hours=24), timedelta(minutes=15)),
        Window("7d", timedelta(days=7), timedelta(hours=1)),
    )
}
