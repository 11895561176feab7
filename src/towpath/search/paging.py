"""Places in lists: how far a reader has come, as a word that is handed back."""

from __future__ import annotations

from towpath import SchemaInvalid


def start(limit: int, after: str | None, most: int) -> int:
    """Where a page begins. Refuses what no page before can have given."""
    if not 1 <= limit <= most:
        raise SchemaInvalid(f"limit must be between 1 and {most}, got {limit}", path="limit")
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 9):
        raise SchemaInvalid(
            f"{after[:40]!r} is no place in this list", path="after", remedy="give what came with the page before"
        )
    return int(after or 0)
