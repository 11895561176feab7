"""One request at a time writes to an upload, in each process.

Parts lie in the blob store before anybody can say which of several requests has won, and so outside of any quota: who sends
a hundred times at once would have a hundred parts there. And a client whose connection broke comes back while its old
request still waits for bytes. So whoever comes ends the turn of the one before, which keeps what has come by then. Between
processes the upload's number decides, which moves by compare-and-set.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_turns: dict[str, Turn] = {}


class Turn:
    def __init__(self) -> None:
        self.over = asyncio.Event()
        self._ended = False
        self._waiting: asyncio.Timeout | None = None

    def end(self) -> None:
        """Nothing more is taken from the body; what was taken is stored."""
        self._ended = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def pieces(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        while not self._ended:
            try:
                async with asyncio.timeout(None) as self._waiting:
                    piece = await anext(body)
            except (StopAsyncIteration, TimeoutError):
                return
            finally:
                self._waiting = None
            yield piece


@asynccontextmanager
async def turn(upload_id: str) -> AsyncIterator[Turn]:
    while (before := _turns.get(upload_id)) is not None:
        before.end()
        await before.over.wait()
    mine = _turns[upload_id] = Turn()
    try:
        yield mine
    finally:
        del _turns[upload_id]
        mine.over.set()
