"""The only file that names concrete adapters."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from towpath.blobs import BlobStore, open_blobs
from towpath.config import Settings, sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.store.contract import Store


def make_store(url: str, settings: Settings, clock: Callable[[], float] = time.time) -> Store:
    if url.startswith("sqlite:"):
        from towpath.store.sqlite import SqliteStore

        return SqliteStore(sqlite_path(url), url=url, clock=clock)
    if url.startswith(("postgresql:", "postgres:")):
        from towpath.store.postgres import PostgresStore

        return PostgresStore(url, pool_size=settings.pool_size, checkout_seconds=settings.checkout_seconds)
    raise ConfigurationError(
        f"no database answers to {url.split(':', 1)[0]!r}; use sqlite:///path/to/jobs.db or postgresql://user@host/name"
    )


def make_blobs(url: str, settings: Settings) -> BlobStore:
    if settings.blobs_url:
        return open_blobs(settings.blobs_url)
    if url.startswith("sqlite:"):
        path = sqlite_path(url)
        return open_blobs((path.parent / f"{path.name}-blobs").absolute().as_uri())
    return open_blobs(Path("towpath-blobs").absolute().as_uri())
