"""Objects in a provider's own storage, for those that read requests from there and write results to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Protocol


class Bucket(Protocol):
    """Every address is whole, such as `gs://bucket/folder/name`. Failures are the engine's categories."""

    def open(self, uri: str) -> AsyncGenerator[bytes, None]: ...

    async def write(self, uri: str, chunks: AsyncIterable[bytes]) -> None:
        """There is all of it afterwards, or nothing; what was there before is replaced."""
        ...

    def list(self, folder: str) -> AsyncGenerator[str, None]:
        """The addresses of everything in a folder, and in folders in it. `folder` ends with a slash."""
        ...

    async def delete(self, uri: str) -> None:
        """Idempotent."""
        ...
