"""Where the servers of a SQLite database are reached, noted beside it, so that links made elsewhere lead to one that runs.

Each server has a note of its own and keeps it locked while it runs. A lock ends with its process, however that ends, so
what a killed server has left is known for what it is.
"""

from __future__ import annotations

import fcntl
import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from towpath.config import sqlite_path


def _notes(url: str) -> list[Path]:
    """The oldest first."""
    path = sqlite_path(url)
    found = {}
    for note in path.parent.glob(f"{glob.escape(path.name)}-address-*"):
        with suppress(OSError):  # its server has just ended
            found[note] = note.stat().st_mtime_ns
    return sorted(found, key=found.__getitem__)


@contextmanager
def noted(url: str, address: str) -> Iterator[None]:
    """Keeps a note while the server runs. PostgreSQL has no place beside it, and its servers may be many:
    TOWPATH_BASE_URL says where they are reached."""
    note = _written(url, address) if url.startswith("sqlite:") else None
    try:
        yield
    finally:
        if note is not None:
            path, lock = note
            path.unlink(missing_ok=True)
            os.close(lock)


def _written(url: str, address: str) -> tuple[Path, int] | None:
    """The note and its lock. It gets its name when it is whole and locked: nobody finds it before."""
    path = sqlite_path(url)
    name = secrets.token_hex(4)
    unfinished = path.with_name(f"{path.name}-unfinished-{name}")
    try:
        for left_behind in [note for note in _notes(url) if not _is_kept(note)]:
            left_behind.unlink(missing_ok=True)
        lock = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, f"{address}\n".encode())
        return unfinished.rename(path.with_name(f"{path.name}-address-{name}")), lock
    except OSError:  # links are a convenience: a server starts without
        return None


def noted_address(url: str) -> str | None:
    """Of several servers, the one that was started last."""
    if not url.startswith("sqlite:"):
        return None
    for note in reversed(_notes(url)):
        if _is_kept(note):
            with suppress(OSError, UnicodeDecodeError):
                return note.read_text("utf-8").strip() or None
    return None


def _is_kept(note: Path) -> bool:
    """Whether its server still runs."""
    try:
        with note.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
