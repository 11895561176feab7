"""Files on disk for the time of one call: libraries upload from them, and download into them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO, cast

_CHUNK = 256 * 1024
_IN_MEMORY = 1024 * 1024
"""Small ones never touch the disk."""


@asynccontextmanager
async def spooled(chunks: AsyncIterable[bytes] | None = None) -> AsyncIterator[BinaryIO]:
    """A file with those bytes in it, at its beginning."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="towpath-") as temporary:
        file = cast("BinaryIO", temporary)
        if chunks is not None:
            await fill(file, chunks)
        yield file


async def fill(file: BinaryIO, chunks: AsyncIterable[bytes]) -> None:
    gathered = bytearray()
    async for chunk in chunks:
        gathered += chunk
        if len(gathered) >= _CHUNK:
            await asyncio.to_thread(file.write, bytes(gathered))
            gathered.clear()
    await asyncio.to_thread(file.write, bytes(gathered))
    file.seek(0)


async def chunks_of(file: BinaryIO) -> AsyncGenerator[bytes, None]:
    while chunk := await asyncio.to_thread(file.read, _CHUNK):
        yield chunk


def size_of(file: BinaryIO) -> int:
    end = file.seek(0, 2)
    file.seek(0)
    return end
