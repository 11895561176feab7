"""Who follows the events of a store, inside one process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from weakref import WeakSet


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
