"""Decoded audio between the steps of a transcription: 16 kHz mono in 16 bits, in the blob store, read by windows.

Its key lies below the job's own, so that it goes with the job at the latest.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from towpath import BlobStore, Context

if TYPE_CHECKING:
    from towpath.models.speech import Samples

RATE = 16_000
BYTES_PER_SAMPLE = 2
_PIECE = 1 << 20
_NAME = "audio-"


def key_of(ctx: Context) -> str:
    """Each attempt has its own: one that is thought dead and is not disturbs nobody."""
    return ctx.blob_key(f"{_NAME}{ctx.fence}.pcm")


async def forget(ctx: Context) -> None:
    """Whatever attempt it is of."""
    for blob in [blob async for blob in ctx.blobs.list(ctx.blob_key())]:
        if blob.key.startswith(ctx.blob_key(_NAME)):
            await ctx.blobs.delete(blob.key)


def seconds_in(size: int) -> float:
    return size / (RATE * BYTES_PER_SAMPLE)


@asynccontextmanager
async def scratch() -> AsyncIterator[Path]:
    """A directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
        yield Path(folder)


async def pieces_of(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as source:
        while piece := source.read(_PIECE):
            yield piece


@asynccontextmanager
async def local_copy(blobs: BlobStore, key: str) -> AsyncIterator[Path]:
    """The blob as a file to read, for those that need one: its own where blobs lie on this machine."""
    root = getattr(blobs, "root", None)
    if isinstance(root, Path):
        yield root / key
        return
    async with scratch() as folder:
        path = folder / "audio.pcm"
        with path.open("wb") as target:
            async with aclosing(blobs.open(key)) as stream:
                async for piece in stream:
                    target.write(piece)
        yield path


async def samples_between(blobs: BlobStore, key: str, start: float, end: float) -> Samples:
    """The part of the audio between two moments, without reading the rest."""
    import numpy as np

    first, last = (round(moment * RATE) * BYTES_PER_SAMPLE for moment in (start, end))
    async with aclosing(blobs.open(key, first, last)) as stream:
        data = b"".join([piece async for piece in stream])
    whole = len(data) - len(data) % BYTES_PER_SAMPLE
    return np.frombuffer(data[:whole], dtype="<i2").astype(np.float32) / 32768.0
