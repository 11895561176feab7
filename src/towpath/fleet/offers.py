"""Workers that wait over HTTPS for a task, and whoever has one."""

from __future__ import annotations

import asyncio
from contextlib import suppress

LOOK_AGAIN = 1.0
"""Seconds until who waits looks for what another process has to offer."""


class Offers:
    """`app.part(Offers)`: within a process a new task is told of at once."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()

    async def wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, LOOK_AGAIN)):
                await self._rung.wait()
