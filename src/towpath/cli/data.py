"""The data directory of a server on one machine: everything it keeps is in there."""

from __future__ import annotations

from pathlib import Path

DATABASE_IN_DATA = "towpath.db"


def database_in(data: Path) -> str:
    """The URL of the database in a data directory."""
    return f"sqlite:///{data.absolute() / DATABASE_IN_DATA}"
