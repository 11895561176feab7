"""The database as its own doorbell: LISTEN/NOTIFY on PostgreSQL, the file's change counter on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Bell(Protocol):
    """The half that a store brings along."""

    def ring(self, topics: Iterable[str]) -> None: ...

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]: ...


class DatabaseTransport:
    """Opens and closes with the store it belongs to."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell

    async def open(self) -> None:
        return None

    async def close(self) -> None:
        return None

    def ring(self, topics: Iterable[str]) -> None:
        self._bell.ring(topics)

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        return self._bell.listen(heard)
