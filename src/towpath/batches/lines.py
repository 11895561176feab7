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
    held = b""
    async with aclosing(blobs.open(key, 0, most)) as pieces:
        async for piece in pieces:
            *whole, held = (held + piece).split(b"\n")
            for line in whole:
                yield line
    if held:
        yield held


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
