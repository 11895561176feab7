"""Who wants to hear what, inside one process. Bells and event streams of both databases end here."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from weakref import WeakSet

log = logging.getLogger("towpath.bell")


class Listeners:
    """Callbacks that are told a topic, in the event loop."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[str], None]] = {}
        self._next = 0

    def add(self, heard: Callable[[str], None]) -> Callable[[], None]:
        self._next += 1
        number = self._next
        self._callbacks[number] = heard
        return lambda: self._callbacks.pop(number, None) and None

    def tell(self, topic: str) -> None:
        for heard in list(self._callbacks.values()):
            try:
                heard(topic)
            except Exception:  # whoever rings has nothing to do with it, and has committed already
                log.exception("a listener failed on %s", topic)


class Pulse:
    """Something happened: any number of followers wake up, and one that was busy meanwhile wakes at once."""

    def __init__(self) -> None:
        self._events: WeakSet[asyncio.Event] = WeakSet()  # a follower that was dropped is forgotten by itself

    def beat(self) -> None:
        if self._events:
            for event in list(self._events):
                event.set()

    def follow(self, at_least_every: float) -> AsyncIterator[None]:
        """Listens from now on, not from the first time it is asked: what happens in between counts."""
        event = asyncio.Event()
        self._events.add(event)
        return _beats(event, at_least_every)


async def _beats(event: asyncio.Event, at_least_every: float) -> AsyncIterator[None]:
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_least_every):
                await event.wait()
        event.clear()
        yield
