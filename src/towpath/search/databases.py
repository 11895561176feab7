"""What the database at hand can do."""

from __future__ import annotations

from dataclasses import dataclass

from towpath import Reading


@dataclass(frozen=True, slots=True)
class Database:
    """`near`: it compares vectors itself, with pgvector."""

    dialect: str
    near: bool


async def database(now: Reading) -> Database:
    """Asked each time, which looks at no table: another process may have made that of the extension a moment ago."""
    [row] = await now.query("search_database")
    return Database(row["dialect"], bool(row["near"]))
