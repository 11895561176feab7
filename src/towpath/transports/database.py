"""The database as its own doorbell: LISTEN/NOTIFY on PostgreSQL, the file's change counter on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from towpath.transports.heard import Heard, Unasked, only


class Bell(Protocol):
    """The half that a store brings along."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def ring(self, topics: Iterable[str]) -> None: ...

    def listen(self, heard: Heard) -> Callable[[], None]: ...


class DatabaseTransport:
    """Every bell reaches every process: a database has no way of handing one to one of them."""

    name = "the database itself"
    away: str | None = None  # whoever can look into the database can hear it, or soon will

    def __init__(self, bell: Bell) -> None:
        self._bell = bell

    async def open(self) -> None:
        await self._bell.open()

    async def close(self) -> None:
        await self._bell.close()

    def ring(self, topics: Iterable[str]) -> None:
        self._bell.ring(topics)

    arrived = ring

    def listen(self, heard: Heard, topics: Iterable[str] | None = None) -> Callable[[], None]:
        return self._bell.listen(only(topics, heard))

    def attend(self, queues: Iterable[str], heard: Heard) -> Unasked:
        return Unasked(self._bell.listen(only(queues, heard)))

    async def check(self) -> str:
        return "it rings by itself"
