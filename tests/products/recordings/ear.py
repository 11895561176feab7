"""Stands before the speech engine: it can be held, at once or later, it can fail, and it can be told what to hear."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from towpath.recordings import windows


class Ear:
    """Lets windows through to the engine, unless `hears` says what is heard in each: (start, end, text[, speaker])."""

    def __init__(self) -> None:
        self.held, self.reached = asyncio.Event(), asyncio.Event()
        self.held.set()
        self.failing: Exception | None = None
        self.hears: Sequence[tuple[Any, ...]] | None = None
        self.windows: list[float] = []
        self.stops_at: int | None = None
        """After so many windows it is held, and `stopped`."""
        self.stopped = False
        self._really, self._steadiness = windows._hear_window, windows.steadiness

    @classmethod
    def instead(cls, monkeypatch: pytest.MonkeyPatch) -> Ear:
        """Everything is heard by it from now on."""
        ear = cls()
        monkeypatch.setattr(windows, "_hear_window", ear.hear)
        monkeypatch.setattr(windows, "steadiness", ear.steadiness)
        return ear

    def go_on(self, until: int | None = None) -> None:
        self.stops_at, self.stopped = until, False
        self.held.set()

    async def hear(self, ctx: Any, engine: Any, group: Any, start: float, end: float) -> Any:
        self.reached.set()
        while self.stops_at is not None and len(self.windows) >= self.stops_at:  # several wait, and not all may go on
            self.held.clear()
            self.stopped = True
            await self.held.wait()
        await self.held.wait()
        if self.failing is not None:
            raise self.failing
        self.windows.append(start)
        if self.hears is None:
            return await self._really(ctx, engine, group, start, end)
        return [[start + said[0], start + said[1], said[3] if len(said) > 3 else None, said[2]] for said in self.hears]

    def steadiness(self, *given: Any) -> float | None:
        """Of what the engine heard itself. What the test says is heard is not in the sound, and is not doubted."""
        return self._steadiness(*given) if self.hears is None else None
