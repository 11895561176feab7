"""Hearing inside one process: who listens to what, and attending where nobody has to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from towpath.core.topics import EVERYWHERE
from towpath.transports.contract import Found

Heard = Callable[[str], None]


def only(topics: Iterable[str] | None, heard: Heard) -> Heard:
    """`heard`, for these topics and for `*`."""
    if topics is None:
        return heard
    wanted = frozenset(topics) | {EVERYWHERE}

    def filtered(topic: str) -> None:
        if topic in wanted:
            heard(topic)

    return filtered


class Unasked:
    """Attends where every bell reaches everybody: nobody wants to know what came of a look."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def look(self) -> Unasked:
        return self

    def over(self, found: Found) -> None:
        return None

    async def stop(self) -> None:
        self._stop()
