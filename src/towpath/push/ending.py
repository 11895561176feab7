"""Why and when a stream ends, known to everybody who has to do with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class Ending:
    """Called once, by whoever is first: the hub, the client's mailbox, or somebody who found that it may not listen."""

    account: str
    reason: str | None = None
    then: Callable[[], None] | None = None
    """What is done at once."""
    _called: asyncio.Event = field(default_factory=asyncio.Event)

    def call(self, reason: str) -> None:
        if self.reason is None:
            self.reason = reason
            self._called.set()
            if self.then is not None:
                self.then()

    def called(self) -> bool:
        return self.reason is not None

    async def wait(self) -> None:
        await self._called.wait()
