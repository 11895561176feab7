"""Where the server of a SQLite database is reached, noted beside the database, so that links made elsewhere lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from towpath.config import sqlite_path


def _note(url: str) -> Path | None:
    """PostgreSQL has no place beside it, and its servers may be many: TOWPATH_BASE_URL says where they are reached."""
    if not url.startswith("sqlite:"):
        return None
    path = sqlite_path(url)
    return path.with_name(f"{path.name}-address")


@contextmanager
def noted(url: str, address: str) -> Iterator[None]:
    """Keeps the note while the server runs. Of two servers the later one counts, and ends its own note only."""
    note = _note(url)
    if note is not None:
        with suppress(OSError):  # links are a convenience: a server starts without
            note.write_text(f"{address}\n", "utf-8")
    try:
        yield
    finally:
        if note is not None and noted_address(url) == address:
            note.unlink(missing_ok=True)


def noted_address(url: str) -> str | None:
    note = _note(url)
    if note is None:
        return None
    try:
        return note.read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
