"""What the transports have in common whose broker cannot tell everybody: the database tells what concerns all of them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Iterable

from towpath.core.listeners import Listeners
from towpath.core.outage import Outage
from towpath.core.topics import for_everyone
from towpath.transports.contract import Transport
from towpath.transports.heard import Heard, only

log = logging.getLogger("towpath.bell")

_FIRST_REST, _LONGEST_REST = 0.5, 15.0
_FAREWELL = 2.0


class BesideDatabase:
    """Sends bells for queues through a broker, `quiet` seconds apart at least, and all others through the database."""

    def __init__(self, name: str, database: Transport, quiet: float) -> None:
        self.name, self._database, self._quiet = name, database, quiet
        self._listeners = Listeners()
        self._outage = Outage(name, log, "and workers look for themselves until it does")
        self._due: set[str] = set()
        self._sending = False
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self._database.open()

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FAREWELL):
                    while (self._due or self._sending) and self.away is None:  # noqa: ASYNC110  (it takes milliseconds)
                        await asyncio.sleep(0.01)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._database.close()

    @property
    def away(self) -> str | None:
        return self._outage.reason

    def ring(self, topics: Iterable[str]) -> None:
        for topic in topics:
            if for_everyone(topic):
                self._database.ring([topic])
            else:
                self._listeners.tell(topic)
                self._due.add(topic)
        if self._due:
            self._wanted.set()
            if self._task is None:
                self._task = asyncio.create_task(self._run(), name="towpath-bell")

    def listen(self, heard: Heard, topics: Iterable[str] | None = None) -> Callable[[], None]:
        wanted = only(topics, heard)
        stops = [self._listeners.add(wanted), self._database.listen(wanted)]

        def silence() -> None:
            for stop in stops:
                stop()

        return silence

    async def send(self, queues: set[str]) -> None:
        """A bell for each; raises if the broker does not take them."""
        raise NotImplementedError

    async def _run(self) -> None:
        rest = _FIRST_REST
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            queues, self._due, self._sending = self._due, set(), True
            try:
                await self.send(queues)
                self._outage.over()
                rest = _FIRST_REST
                await asyncio.sleep(self._quiet)
            except Exception as error:  # whatever it is: without a broker, every job waits for the next poll
                self._due |= queues
                self._wanted.set()
                self._outage.seen(error)
                await asyncio.sleep(rest * random.uniform(0.5, 1.0))
                rest = min(2 * rest, _LONGEST_REST)
            finally:
                self._sending = False
