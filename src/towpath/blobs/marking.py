"""A store that knows whose blobs are in it.

Before the first blob a process writes, it leaves a mark of its database. Where the marks of several databases are, none of
them can tell whether a blob that it knows nothing of is another's; and of what is older than its own mark, none can.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from datetime import datetime
from typing import Any, cast

from towpath.blobs.contract import BlobInfo, BlobStore

MARKS = "databases"


def marked(store: BlobStore, database: str) -> BlobStore:
    return cast(BlobStore, _Marked(store, f"{MARKS}/{database}"))


async def marks_of_others(store: BlobStore, database: str) -> list[str]:
    """Databases that have blobs here, besides this one."""
    return sorted([info.key async for info in store.list(MARKS) if info.key != f"{MARKS}/{database}"])


async def marked_since(store: BlobStore, database: str) -> datetime | None:
    """When this database wrote its first blob here."""
    mark = await store.head(f"{MARKS}/{database}")
    return None if mark is None else mark.created


class _Marked:
    def __init__(self, store: BlobStore, mark: str) -> None:
        self._store, self._mark, self._done = store, mark, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def put(self, key: str, data: bytes | AsyncIterable[bytes]) -> BlobInfo:
        await self._leave_mark()
        return await self._store.put(key, data)

    async def move(self, source: str, target: str) -> None:
        await self._leave_mark()
        await self._store.move(source, target)

    async def list(self, prefix: str = "") -> AsyncGenerator[BlobInfo, None]:
        """Marks are not blobs of anybody: who lists everything does not see them."""
        async with aclosing(self._store.list(prefix)) as found:
            async for info in found:
                if prefix or not info.key.startswith(f"{MARKS}/"):
                    yield info

    async def _leave_mark(self) -> None:
        if not self._done:
            if await self._store.head(self._mark) is None:
                await self._store.put(self._mark, b"")
            self._done = True
