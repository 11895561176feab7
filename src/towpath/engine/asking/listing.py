"""Lists of jobs with filters, newest first, at a bounded cost whatever is in the table.

A search takes ids from the best index there is for its filter, a bounded number of them, and looks at those rows. When
that number is used up, it answers what it has and where to go on: a page may be short and still have a next one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from towpath.core.errors import ConfigurationError
from towpath.core.ids import LAST_ID, first_at
from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.asking.id_sources import Source, best_sources
from towpath.engine.asking.reading import check_id
from towpath.store.contract import Store, Tx

MOST_EXAMINED = 4000
MOST_PER_PAGE = 1000
# Ids carry the clock of whoever made them, rows that of the database; they may differ by a little.
_CLOCKS_DIFFER = timedelta(minutes=5)
_ALL = [state.value for state in State]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which jobs are meant; all conditions must hold. `leaves` leaves out failures that are only their children's."""

    states: Sequence[str] = ()
    operation: str | None = None
    queue: str | None = None
    tenant: str | None = None
    parent: str | None = None
    root: str | None = None
    text: str | None = None
    kind: str | None = None
    message: str | None = None
    leaves: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None


@dataclass(slots=True)
class Found:
    """One page, newest first. `next` is where the next one begins; None at the end."""

    jobs: list[Job]
    next: str | None


async def search(store: Store, wanted: Wanted, *, after: str | None = None, limit: int = 50) -> Found:
    """One page. Rows come without payload and result."""
    if not 1 <= limit <= MOST_PER_PAGE:
        raise ConfigurationError(f"limit must be 1 to {MOST_PER_PAGE:,} jobs per page, got {limit!r}")
    before = check_id(after) if after else LAST_ID
    if wanted.created_before is not None:
        before = min(before, first_at(wanted.created_before + _CLOCKS_DIFFER))
    return await store.read(partial(_search, wanted=wanted, before=before, limit=limit))


async def _search(tx: Tx, wanted: Wanted, before: str, limit: int) -> Found:
    since = first_at(wanted.created_after - _CLOCKS_DIFFER) if wanted.created_after else None
    sources = await best_sources(tx, wanted, since)
    fits = partial(tx.jobs, "listed_jobs", **_conditions(wanted))
    found: list[Job] = []
    examined, size = 0, limit + 1
    while True:
        size = min(size, MOST_EXAMINED - examined)
        ids, more = await _newest(tx, sources, before, size)
        found += await _fitting(fits, ids, limit + 1 - len(found))
        if len(found) > limit:
            return Found(found[:limit], found[limit - 1].id)
        if not more:
            return Found(found, None)
        examined, before, size = examined + len(ids), ids[-1], size * 4
        if examined >= MOST_EXAMINED:
            return Found(found, before)


async def _newest(tx: Tx, sources: Sequence[Source], before: str, size: int) -> tuple[list[str], bool]:
    """The `size` newest ids of all sources below `before`, and whether there may be more.

    A source that answers `size` ids has none above the last of them, so the merged first `size` are complete.
    """
    merged: set[str] = set()
    more = False
    for source in sources:
        ids = await source(tx, before, size)
        more = more or len(ids) == size
        merged.update(ids)
    ordered = sorted(merged, reverse=True)
    return ordered[:size], more or len(ordered) > size


async def _fitting(fits: Callable[..., Awaitable[list[Job]]], ids: list[str], limit: int) -> list[Job]:
    return await fits(ids=ids, limit=limit) if ids else []


def _conditions(wanted: Wanted) -> dict[str, object]:
    text = None if wanted.text is None else _escaped(wanted.text.lower())
    return {
        "states": list(wanted.states) or _ALL,
        "operation": wanted.operation,
        "queue": wanted.queue,
        "tenant": wanted.tenant,
        "parent": _plain_id(wanted.parent),
        "root": _plain_id(wanted.root),
        "kind": wanted.kind,
        "message": wanted.message,
        "leaves": wanted.leaves,
        "created_after": wanted.created_after,
        "created_before": wanted.created_before,
        "text": None if text is None else f"%{text}%",
        "prefix": None if text is None else f"{text}%",
    }


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _plain_id(value: str | None) -> str | None:
    return None if value is None else str(UUID(value))
