"""The only file that names concrete adapters: which stores, transports and blob stores there are, and how each is opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from towpath.blobs import BlobStore, directory_of, lazily
from towpath.config import Settings, blobs_beside, sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.store.contract import Store
from towpath.transports import Transport


def make_store(url: str, settings: Settings, clock: Callable[[], float] = time.time) -> Store:
    if url.startswith("sqlite:"):
        from towpath.store.sqlite import SqliteStore

        return SqliteStore(sqlite_path(url), url=url, clock=clock)
    if url.startswith(("postgresql:", "postgres:")):
        from towpath.store.postgres import PostgresStore

        if clock is not time.time:
            raise ConfigurationError("PostgreSQL keeps its own time; an app with another clock needs a SQLite database")
        return PostgresStore(
            url,
            pool_size=settings.pool_size,
            checkout_seconds=settings.checkout_seconds,
            idle_seconds=settings.lease_seconds,
        )
    raise ConfigurationError(
        f"no database answers to {url.split(':', 1)[0]!r}; use sqlite:///path/to/jobs.db or postgresql://user@host/name"
    )


def make_transport(store: Store) -> Transport:
    from towpath.transports.database import DatabaseTransport

    return DatabaseTransport(store.bell)


def components() -> list[tuple[str, str, str | None]]:
    """What the databases are spoken to with: name, version, and what is wrong with it, if anything."""
    import apsw
    import asyncpg

    from towpath.store.sqlite.connection import check_version

    wrong: str | None = None
    try:
        check_version(apsw.sqlite_lib_version())
    except ConfigurationError as error:
        wrong = str(error)
    return [
        ("apsw", apsw.apsw_version(), None),
        ("SQLite", apsw.sqlite_lib_version(), wrong),
        ("asyncpg", asyncpg.__version__, None),
    ]


def make_blobs(url: str, settings: Settings, *, on_start: bool = True) -> BlobStore:
    if not on_start:
        return lazily(lambda: make_blobs(url, settings))
    if settings.blobs_url:
        return open_blobs(settings.blobs_url)
    if url.startswith("sqlite:"):
        return open_blobs(blobs_beside(sqlite_path(url)).absolute().as_uri())
    return open_blobs(Path("towpath-blobs").absolute().as_uri())


def open_blobs(url: str) -> BlobStore:
    """The blob store that a URL names; InvalidBlobUrl if it names none."""
    from towpath.blobs.local import LocalBlobs

    return LocalBlobs(directory_of(url))
