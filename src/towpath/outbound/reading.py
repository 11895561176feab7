"""Reading something far away as it comes: not more than allowed, and on from where it broke off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from towpath.core.errors import SchemaInvalid, Transient

_IN_VAIN = 4
"""How often in a row it is taken up again without a byte to show for it."""
_PAUSE = 0.2


class Broken(Exception):
    """The connection ended before its time; the message says how."""


class Changed(Exception):
    """What is there is not what was there before."""


@dataclass(slots=True)
class Arriving:
    """What a place answers. `tag` is what this very content is known by there; without one nothing can be taken up again."""

    size: int | None
    """Of the whole, whatever part is coming."""
    tag: str | None
    pieces: AsyncIterator[bytes]
    """Broken if they end before their time."""


class Place(Protocol):
    def open(self, offset: int, tag: str | None) -> AbstractAsyncContextManager[Arriving]:
        """What is there, from a byte on. With a tag: Changed if it is no longer that."""
        ...


class Reading:
    def __init__(self, place: Place, name: str, limit: int | None) -> None:
        self._place, self._name, self._limit = place, name, limit
        self._offset = self._vain = 0
        self.size: int | None = None
        self._tag: str | None = None
        self._current: AbstractAsyncContextManager[Arriving] | None = None

    async def __aenter__(self) -> Reading:
        self._current = self._place.open(0, None)
        self._arriving = await self._current.__aenter__()
        self.size, self._tag = self._arriving.size, self._arriving.tag
        try:
            self._check(self.size or 0)
        except SchemaInvalid:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def pieces(self) -> AsyncIterator[bytes]:
        while True:
            try:
                async for piece in self._arriving.pieces:
                    self._offset, self._vain = self._offset + len(piece), 0
                    self._check(self._offset)
                    yield piece
                return
            except Broken as error:
                await self._resume(error)

    def _check(self, size: int) -> None:
        if self._limit is not None and size > self._limit:
            raise SchemaInvalid(f"{self._name} is larger than the {self._limit:,} bytes that are read of one input")

    async def _resume(self, why: Exception) -> None:
        if self._tag is None:
            raise Transient(f"{self._name} broke off after {self._offset:,} bytes: {why}")
        await self._close()
        while True:
            self._vain += 1
            if self._vain > _IN_VAIN:
                raise Transient(f"{self._name} breaks off again and again after {self._offset:,} bytes: {why}")
            await asyncio.sleep(_PAUSE * 2**self._vain)
            opening = self._place.open(self._offset, self._tag if self._offset else None)
            try:
                self._arriving = await opening.__aenter__()
            except Changed:
                raise Transient(f"{self._name} was changed while it was being read") from None
            except Transient as error:
                why = error
                continue
            self._current = opening
            return

    async def _close(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            await current.__aexit__(None, None, None)
