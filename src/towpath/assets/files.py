"""An asset as a file on this machine, for those that need one, such as decoders."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from towpath import App, Context
from towpath.assets.records import Asset


@asynccontextmanager
async def open_file(place: App | Context, asset: Asset) -> AsyncIterator[Path]:
    """The blob's own file if blobs lie on this machine, else a copy that is gone afterwards. It is only to be read."""
    blobs = place.blobs
    root = getattr(blobs, "root", None)
    if isinstance(root, Path):
        yield root / asset.blob_key
        return
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
        path = Path(folder) / "content"
        with path.open("wb") as target:
            async with aclosing(blobs.open(asset.blob_key)) as pieces:
                async for piece in pieces:
                    await asyncio.to_thread(target.write, piece)
        yield path
