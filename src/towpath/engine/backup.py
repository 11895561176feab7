"""A copy of everything, taken while the engine goes on.

Rows first, then blobs: a blob is written before the row that names it, so every blob that the copied rows name is still
there to be copied, unless its job is pruned at that very moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from towpath import wiring
from towpath.blobs import BlobNotFound
from towpath.config import blobs_beside
from towpath.core.errors import ConfigurationError
from towpath.engine.services import Services


@dataclass(slots=True)
class Backup:
    """What was copied, and where to."""

    database: Path
    bytes: int
    blobs: Path
    blob_count: int


async def backup(services: Services, target: Path) -> Backup:
    """Copies the database to `target` and its blobs beside it, so that sqlite:///target opens as everything was."""
    copy = getattr(services.store, "backup", None)
    if copy is None:
        raise ConfigurationError(
            "this backs up SQLite files; PostgreSQL brings its own means: pg_dump, or archiving its WAL"
        )
    unfinished = await asyncio.to_thread(_check, target)
    try:
        await copy(unfinished)
        await asyncio.to_thread(unfinished.rename, target)
    finally:
        await asyncio.to_thread(unfinished.unlink, missing_ok=True)
    size = (await asyncio.to_thread(target.stat)).st_size
    folder = blobs_beside(target)
    return Backup(target, size, folder, await _copy_blobs(services, folder))


def _check(target: Path) -> Path:
    """Where to write until the copy is whole."""
    if target.exists():
        raise ConfigurationError(f"{target} exists already, and a backup overwrites nothing; give another name")
    if not target.parent.is_dir():
        raise ConfigurationError(f"{target.parent} is not a directory; make it first, or give another name")
    return target.with_name(f"{target.name}.unfinished")


async def _copy_blobs(services: Services, folder: Path) -> int:
    copies, count = wiring.open_blobs(await asyncio.to_thread(_uri, folder)), 0
    try:
        async for info in services.blobs.list():
            with contextlib.suppress(BlobNotFound):
                await copies.put(info.key, services.blobs.open(info.key))
                count += 1
    finally:
        await copies.aclose()
    return count


def _uri(folder: Path) -> str:
    return folder.absolute().as_uri()
