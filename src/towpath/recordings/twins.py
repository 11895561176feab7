"""Recordings of the same content: told beside each, and nothing is done about them, for somebody may have meant it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from towpath.recordings.stored import Source


@dataclass(frozen=True, slots=True)
class Twins:
    others: int
    oldest: str


async def twins_of(source: Source, ids: Sequence[str]) -> Mapping[str, Twins]:
    """Of those that have some."""
    rows = await source.query("recordings_twins", ids=list(ids)) if ids else []
    return {row["id"]: Twins(int(row["others"]), str(row["oldest"])) for row in rows}
