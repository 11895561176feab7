"""Stands before the speech engine: it can be held, it can fail, and it can be told what to hear."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from towpath.recordings import hearing


class Ear:
    """Lets windows through to the engine, unless `hears` says what is heard: (start, end, text[, speaker]) each."""

    def __init__(self) -> None:
        self.held, self.reached = asyncio.Event(), asyncio.Event()
        self.held.set()
        self.failing: Exception | None = None
        self.hears: Sequence[tuple[Any, ...]] | None = None
        self.windows: list[float] = []
        self._really = hearing._hear_window

    async def hear(self, ctx: Any, engine: Any, group: Any, start: float, end: float) -> Any:
        self.reached.set()
        await self.held.wait()
        if self.failing is not None:
            raise self.failing
        self.windows.append(start)
        if self.hears is None:
            return await self._really(ctx, engine, group, start, end)
        return [[said[0], said[1], said[3] if len(said) > 3 else None, said[2]] for said in self.hears]
