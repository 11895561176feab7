"""JSON lines in blobs, read and written as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path

from towpath import BlobStore

_PIECE = 1024 * 1024


async def lines_of(blobs: BlobStore, key: str, most: int | None = None) -> AsyncGenerator[bytes, None]:
    """Each without its end. Of what others have written only the first bytes: who knows how long a line of theirs is."""
    async with aclosing(blobs.open(key, 0, most)) as pieces, aclosing(split(pieces)) as lines:
        async for line in lines:
            yield line


async def split(pieces: AsyncIterator[bytes], most: int | None = None) -> AsyncGenerator[bytes, None]:
    """Lines of what comes in pieces, each without its end. A line is put together once, however many pieces it comes in."""
    held: list[bytes] = []
    taken = 0
    async for piece in pieces:
        taken += len(piece)
        first, *more = piece.split(b"\n")
        held.append(first)
        if more:
            yield b"".join(held)
            for line in more[:-1]:
                yield line
            held = [more[-1]] if more[-1] else []
        if most is not None and taken >= most:
            break
    if last := b"".join(held):
        yield last


async def download(blobs: BlobStore, key: str, path: Path) -> None:
    """Adds a blob to the end of a file, which ends with a whole line afterwards."""
    last = b"\n"
    with path.open("ab") as target:
        async with aclosing(blobs.open(key)) as pieces:
            async for piece in pieces:
                await asyncio.to_thread(target.write, piece)
                last = piece[-1:] or last
        if last != b"\n":
            target.write(b"\n")


async def pieces_of(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as source:
        while piece := await asyncio.to_thread(source.read, _PIECE):
            yield piece
