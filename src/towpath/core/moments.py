"""Times as databases keep them: SQLite as seconds since 1970, PostgreSQL as what they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def moment(value: Any) -> datetime | Any:
    """A time out of a row, whichever database it came from: in UTC, or None if there is none."""
    return datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else value
