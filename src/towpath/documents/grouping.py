"""Texts of many documents embedded together: while one batch is at the model, the next gathers. Nobody waits for others to
come, and nobody's batch is smaller than it need be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from towpath import SchemaInvalid
from towpath.search import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_MOST = 512
"""Texts in one call: a document with more goes in several."""


class Grouping:
    """Kept on an app: one of each process."""

    def __init__(self) -> None:
        self._waiting: list[tuple[list[str], asyncio.Future[Rows]]] = []
        self._running: asyncio.Task[None] | None = None

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> Rows:
        """A row for each text. Raises what the model raised for it."""
        import numpy as np

        starts = range(0, len(texts), _MOST)
        parts = [await self._asked(embedder, list(texts[start : start + _MOST])) for start in starts]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    async def _asked(self, embedder: Embedder, texts: list[str]) -> Rows:
        answer: asyncio.Future[Rows] = asyncio.get_running_loop().create_future()
        self._waiting.append((texts, answer))
        if self._running is None:
            self._running = asyncio.create_task(self._run(embedder))
        return await answer

    async def _run(self, embedder: Embedder) -> None:
        try:
            while self._waiting:
                await self._one(embedder, self._taken())
        finally:
            self._running = None

    def _taken(self) -> list[tuple[list[str], asyncio.Future[Rows]]]:
        count = taken = 0
        for texts, _ in self._waiting:
            if taken and count + len(texts) > _MOST:
                break
            taken, count = taken + 1, count + len(texts)
        group, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return [one for one in group if not one[1].done()]  # those whose job was stopped meanwhile want nothing

    async def _one(self, embedder: Embedder, group: list[tuple[list[str], asyncio.Future[Rows]]]) -> None:
        if not group:
            return
        try:
            rows = await asyncio.to_thread(embedder.embed, [text for texts, _ in group for text in texts])
        except Exception as error:
            await self._apart(embedder, group, error)
            return
        start = 0
        for texts, answer in group:
            if not answer.done():
                answer.set_result(rows[start : start + len(texts)])
            start += len(texts)

    async def _apart(
        self, embedder: Embedder, group: list[tuple[list[str], asyncio.Future[Rows]]], error: Exception
    ) -> None:
        """What one document cannot have is no reason for the others to fail: each is asked alone. What would not be better
        alone, such as a service that is away, is told to all."""
        if len(group) > 1 and isinstance(error, SchemaInvalid):
            for one in group:
                await self._one(embedder, [one])
            return
        for _, answer in group:
            if not answer.done():
                answer.set_exception(error)
