"""A job's events, page by page, by level."""

from __future__ import annotations

from towpath.core.records import Event
from towpath.engine.asking.reading import event_from
from towpath.store.contract import Store, Tx

LEVELS = ("debug", "info", "warning", "error")
_MOST_EXAMINED = 5000


async def events_page(
    store: Store, job_id: str, *, after: int, last: int, level: str | None, limit: int
) -> tuple[list[Event], int | None]:
    """Events of this level and above, and the seq to go on after; None at the end. `last` is the job's own seq."""
    levels = list(LEVELS[LEVELS.index(level) :] if level else LEVELS)
    until = min(after + _MOST_EXAMINED, 2**31 - 1)

    async def unit(tx: Tx) -> list[Event]:
        rows = await tx.fetch(
            "job_events_of_levels", job_id=job_id, after=after, until=until, levels=levels, limit=limit + 1
        )
        return [event_from(row) for row in rows]

    found = await store.read(unit)
    if len(found) > limit:
        return found[:limit], found[limit - 1].seq
    return found, until if until < last else None
