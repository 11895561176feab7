"""Messages are kept from others while work runs: their visibility is renewed until they are let go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from towpath.brokers.contract import Message
from towpath.core.errors import TowpathError


class Extends(Protocol):
    async def extend(self, messages: Sequence[Message], seconds: float) -> list[Message]: ...


@asynccontextmanager
async def held(queue: Extends, messages: Sequence[Message], visibility_seconds: float) -> AsyncGenerator[set[str], None]:
    """Renews three times in each visibility, so that two may fail. Yields the ids of those that were lost all the same:
    others have them by now, and what we make of them has to be guarded elsewhere."""
    lost: set[str] = set()

    async def renew() -> None:
        while True:
            await asyncio.sleep(visibility_seconds / 3)
            ours = [one for one in messages if one.id not in lost]
            if not ours:
                return
            with suppress(TowpathError):  # the next turn tries again
                lost.update(one.id for one in await queue.extend(ours, visibility_seconds))

    renewing = asyncio.create_task(renew())
    try:
        yield lost
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
