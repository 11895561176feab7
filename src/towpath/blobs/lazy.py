"""A store that is opened by its first use, for programs that only look: most of what they look at is in the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from towpath.blobs.contract import BlobStore


def lazily(opening: Callable[[], BlobStore]) -> BlobStore:
    return cast(BlobStore, _Lazy(opening))


class _Lazy:
    def __init__(self, opening: Callable[[], BlobStore]) -> None:
        self._opening, self._store = opening, cast(BlobStore | None, None)

    def __getattr__(self, name: str) -> Any:
        if self._store is None:
            self._store = self._opening()
        return getattr(self._store, name)

    async def aclose(self) -> None:
        if self._store is not None:
            await self._store.aclose()
