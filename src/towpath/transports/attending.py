"""Attending to the queues of a broker, whichever it is.

Of all who attend to a queue, the broker hands a bell to one who has none. That one holds it until a look has found little,
and is handed no other before: so nobody who is busy takes bells that others could answer. If a look finds plenty, more may
be there than this process has room for, and two new bells are rung for others. So a bulk wakes as many as it needs, each of
them once, and not everybody at every job. A bell whose holder dies is handed to somebody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from towpath.core.outage import Outage
from towpath.transports.contract import Found
from towpath.transports.heard import Heard

HELD_AT_MOST = 300.0
"""Seconds after which a new bell takes the place of one that is held: brokers suspect whoever holds a message for long."""
_TO_OTHERS = 2
_FIRST_REST, _LONGEST_REST = 0.5, 15.0
_FAREWELL = 5.0


class Handed(Protocol):
    """A bell in our hands. If nothing is done about it, somebody else gets it."""

    def kept(self) -> AbstractAsyncContextManager[object]:
        """Keeps it from others, as long as this takes."""
        ...

    async def answered(self) -> None:
        """It is over with."""
        ...

    async def again(self, *, later: bool) -> None:
        """Others are handed it: at once, or a little later. Nobody has to wait for that."""
        ...


class Line(Protocol):
    """Where a broker keeps the bells of one queue, for one who attends to it."""

    async def receive(self) -> Handed:
        """Waits until there is one."""
        ...

    async def ring(self, times: int) -> None: ...

    async def close(self) -> None: ...


class _Bell:
    """One that rang for a queue, until a look has answered it."""

    def __init__(self, queue: str, line: Line) -> None:
        self.queue, self.line = queue, line
        self.answer: asyncio.Future[Found] = asyncio.get_running_loop().create_future()


class _Looking:
    def __init__(self, attending: Attending, rung: set[_Bell]) -> None:
        self._attending, self._rung = attending, rung

    def over(self, found: Found) -> None:
        if self._rung:
            self._attending.over(self._rung, found)


class Attending:
    """`rest` is how often whoever attends looks unasked: within that time, nobody is told twice of plenty."""

    def __init__(
        self, lines: Mapping[str, Line], heard: Heard, outage: Outage, rest: float, stop: Callable[[], None]
    ) -> None:
        self._heard, self._outage, self._rest, self._stop = heard, outage, rest, stop
        self._rung: set[_Bell] = set()
        self._told: dict[str, float] = {}
        self._tasks = {asyncio.create_task(self._attend(queue, line), name="towpath-bells") for queue, line in lines.items()}

    def look(self) -> _Looking:
        rung, self._rung = self._rung, set()
        return _Looking(self, rung)

    def over(self, rung: set[_Bell], found: Found) -> None:
        for bell in rung:
            if bell.answer.done():
                continue
            if found is Found.PLENTY:
                self._rung.add(bell)  # it is answered when a look finds little
                self._tell_others(bell)
            else:
                bell.answer.set_result(found)

    async def stop(self) -> None:
        """What it holds is given back if the broker takes it; if not, the broker finds out by itself."""
        self._stop()
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL):
                await asyncio.gather(*tasks, return_exceptions=True)

    def _tell_others(self, bell: _Bell) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._told.get(bell.queue, float("-inf")) + self._rest:
            self._told[bell.queue] = now
            telling = asyncio.create_task(self._ring(bell.line))
            self._tasks.add(telling)
            telling.add_done_callback(self._tasks.discard)

    async def _ring(self, line: Line) -> None:
        try:
            await line.ring(_TO_OTHERS)
        except Exception as error:  # others look by themselves before long
            self._outage.seen(error)

    async def _attend(self, queue: str, line: Line) -> None:
        rest = _FIRST_REST
        try:
            while True:
                try:
                    handed = await line.receive()
                    self._outage.over()
                    await self._answer(queue, line, handed)
                    rest = _FIRST_REST
                except Exception as error:  # whatever it is: workers look by themselves meanwhile
                    self._outage.seen(error)
                    await asyncio.sleep(rest * random.uniform(0.5, 1.0))
                    rest = min(2 * rest, _LONGEST_REST)
        finally:
            await line.close()

    async def _answer(self, queue: str, line: Line, handed: Handed) -> None:
        bell = _Bell(queue, line)
        try:
            async with handed.kept():
                found = await self._shown(bell)
        except asyncio.CancelledError:
            await handed.again(later=False)
            raise
        finally:
            self._rung.discard(bell)
        if found is Found.UNKNOWN:
            await handed.again(later=True)
            return
        if found is None:
            await line.ring(1)
        await handed.answered()

    async def _shown(self, bell: _Bell) -> Found | None:
        """What came of it; None if it is still worked on, and has been held for long."""
        self._rung.add(bell)
        self._heard(bell.queue)
        await asyncio.wait({bell.answer}, timeout=HELD_AT_MOST)
        return bell.answer.result() if bell.answer.done() else None
