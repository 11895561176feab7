"""SQLite: one writer thread per process, one file for all of them."""

from towpath.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
