"""The one way background loops start and stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger("towpath.loops")


class Loop:
    """Calls `turn` again and again; `turn` answers how many seconds to wait, and `nudge` ends the wait early.

    A turn that raises is logged and tried again after a pause: a janitor must outlive a bad row. `first` is how long the
    first turn waits, for loops that start together and need not all ask the database at once.
    """

    def __init__(self, name: str, turn: Callable[[], Awaitable[float]], *, pause: float = 1.0, first: float = 0.0) -> None:
        self.name = name
        self._turn = turn
        self._pause = pause
        self._first = first
        self._nudged = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"towpath-{self.name}")

    def nudge(self) -> None:
        self._nudged.set()

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        if self._first:
            await asyncio.sleep(self._first)
        while True:
            try:
                wait = await self._turn()
            except Exception:
                log.exception("the %s loop failed and goes on", self.name)
                wait = self._pause
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._nudged.wait()
            self._nudged.clear()
