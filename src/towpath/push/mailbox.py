"""What one stream has been given and has not sent yet. Bounded: memory must not depend on how slowly somebody reads."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from towpath.push.ending import Ending

_AT_ONCE = 64 * 1024


class Mailbox:
    def __init__(self, most_bytes: int, ending: Ending) -> None:
        self._most = most_bytes
        self._ending = ending
        ending.then = self._empty
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self.roomy = asyncio.Event()
        """At most half full."""
        self.roomy.set()
        self.taken = 0
        """How many bytes were ever taken out."""
        self.given_up = False
        """It was waited for in vain, and nobody waits again until it has caught up."""

    def put(self, data: bytes) -> None:
        """The stream of a mailbox that would overflow ends: the client has the id of what was sent, and comes back for
        the rest. A single message always fits."""
        if self._waiting and self._size + len(data) > self._most:
            self._ending.call("overflow")
        if self._ending.called():
            return
        self._waiting.append(data)
        self._size += len(data)
        if self._size > self._most // 2:
            self.roomy.clear()
        self._news.set()

    def _empty(self) -> None:
        self._waiting.clear()
        self._size = 0
        self.roomy.set()
        self._news.set()

    async def take(self, within: float) -> bytes:
        """What has come, a good piece at a time; nothing if nothing came in time, or if the stream ends.

        Nothing means nothing: what arrives in the moment the time is up is taken, too, because whoever hears nothing is
        told how far everybody is.
        """
        if not self._waiting:
            self._news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._news.wait()
        taken: list[bytes] = []
        size = 0
        while self._waiting and size < _AT_ONCE:
            taken.append(self._waiting.popleft())
            size += len(taken[-1])
        self._size -= size
        self.taken += size
        if self._size <= self._most // 2:
            self.roomy.set()
            self.given_up = False
        return b"".join(taken)
