"""Room in memory: how many documents a worker reads at a time is decided by how large they are.

A large file takes a multiple of its size in the process that reads it, and its text another in this one. So each asks for
room before it is read, and keeps it until it is indexed. Who finds none waits in line: what somebody waits for before bulk,
and nobody overtakes within the same.
"""

from __future__ import annotations

import asyncio
import heapq
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from towpath.documents.names import FETCHED
from towpath.documents.work import Work

_MB = 1024 * 1024
_LEAST = 8 * _MB
_TIMES = 5
"""A document as a multiple of its file: twice in the process that reads it, and its text as it is cut and indexed."""
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class Rooms:
    """Kept on an app: one of each process."""

    def __init__(self) -> None:
        self.taken = 0
        self._line: list[tuple[int, int, int, asyncio.Future[None]]] = []
        self._numbers = count()

    @asynccontextmanager
    async def of(self, work: Work) -> AsyncIterator[None]:
        """For one document, from here to its end."""
        settings = work.ctx.settings
        total = settings.extract_total_mb * _MB or half_of_the_machine()
        most = min(total, settings.extract_memory_mb * _MB)
        needed = min(max(_LEAST, _TIMES * work.output(FETCHED)["bytes"]), most)
        async with self.room(needed, total, work.ctx.priority):
            yield

    @asynccontextmanager
    async def room(self, needed: int, total: int, priority: int = 0) -> AsyncIterator[None]:
        """`needed` of `total`; who needs more than there is at all comes when nobody else is there."""
        needed = min(needed, total)
        await self._entered(needed, total, priority)
        try:
            yield
        finally:
            self.taken -= needed
            self._let_in(total)

    async def _entered(self, needed: int, total: int, priority: int) -> None:
        if not self._line and self.taken + needed <= total:
            self.taken += needed
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._line, (priority, next(self._numbers), needed, turn))
        self._let_in(total)  # what is more urgent than the first in line may find room where that one does not
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.taken -= needed  # it was let in, and does not come any more
            turn.cancel()
            self._let_in(total)
            raise

    def _let_in(self, total: int) -> None:
        """As many of the line as there is room for, in its order: a large one is not overtaken for ever by small ones."""
        while self._line:
            _, _, needed, turn = self._line[0]
            if turn.done():  # its job was stopped
                heapq.heappop(self._line)
                continue
            if self.taken + needed > total:
                return
            heapq.heappop(self._line)
            self.taken += needed
            turn.set_result(None)


def half_of_the_machine() -> int:
    """In bytes, of what this process may have."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in map(Path, _CGROUPS):
        try:
            said = path.read_text().strip()
        except OSError:
            continue
        if said.isdigit():
            found.append(int(said))
    return min(found) // 2
