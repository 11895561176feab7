"""Who wants to hear what, inside one process. Bells and event streams of both databases end here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable


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
            heard(topic)


class Pulse:
    """Something happened: any number of waiters wake up, and one that was busy meanwhile wakes at once."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Event] = set()

    def beat(self) -> None:
        for event in self._waiters:
            event.set()

    async def follow(self, at_least_every: float) -> AsyncIterator[None]:
        event = asyncio.Event()
        self._waiters.add(event)
        try:
            while True:
                try:
                    async with asyncio.timeout(at_least_every):
                        await event.wait()
                except TimeoutError:
                    pass
                event.clear()
                yield
        finally:
            self._waiters.discard(event)
