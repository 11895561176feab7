"""Lists of jobs with filters: the one place under `app.list`, the inbox, the pages and the bulk changes.

A list goes on until it is full, or until there are no more, and may walk through all jobs for that. A search has a bounded
cost, whatever is in the table: it takes ids from the best index there is for its filter, a bounded number of them, and looks
at those rows. When that number is used up, it answers what it has and where to go on: a page may be short and still have a
next one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from towpath.core.errors import ConfigurationError
from towpath.core.ids import FIRST_ID, LAST_ID, first_at
from towpath.core.lifecycle import State
from towpath.core.records import Job, Subject
from towpath.engine.asking.id_sources import Source, best_sources
from towpath.engine.asking.reading import check_id, check_state
from towpath.engine.registry import check_subject
from towpath.store.contract import Store, Tx

MOST_EXAMINED = 4000
MOST_PER_PAGE = 1000
_MOST_LISTED = 10_000
# Ids carry the clock of whoever made them, rows that of the database; they may differ by a little.
_CLOCKS_DIFFER = timedelta(minutes=5)
_ALL = [state.value for state in State]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which jobs are meant; all conditions must hold. `leaves` leaves out failures that are only their children's, and
    `roots` whatever is a child."""

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
    roots: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None


def failures(
    *, tenant: str | None = None, operation: str | None = None, kind: str | None = None, message: str | None = None
) -> Wanted:
    """What the inbox holds, or a part of it, for a search."""
    return Wanted(states=["failed"], leaves=True, tenant=tenant, operation=operation, kind=kind, message=message)


@dataclass(slots=True)
class Found:
    """One page, newest first. `next` is where the next one begins; None at the end."""

    jobs: list[Job]
    next: str | None


async def list_jobs(
    store: Store, *, state: str | None = None, operation: str | None = None, queue: str | None = None,
    tenant: str | None = None, parent: str | None = None, subject: Subject | None = None,
    before: str | None = None, limit: int = 100,
) -> list[Job]:  # fmt: skip
    """Newest first, with payload and result; `before` is the last id of the previous page."""
    asked: dict[str, Any] = _filters([] if state is None else [check_state(state)], operation, queue, tenant)
    asked |= {"before_id": check_id(before) if before else LAST_ID, "limit": _checked(limit, _MOST_LISTED)}
    parent = None if parent is None else check_id(parent)
    if subject is not None:
        kind, subject_id = check_subject(subject)
        asked |= {"subject_kind": kind, "subject_id": subject_id, "parent": parent}
        return await store.read(lambda tx: tx.jobs("list_of_subject", **asked))
    asked["before"] = before
    if parent is not None:
        return await store.read(lambda tx: tx.jobs("list_children", parent=parent, **asked))
    return await store.read(lambda tx: tx.jobs("list_jobs", **asked))


async def list_failures(
    store: Store, *, operation: str | None = None, kind: str | None = None, message: str | None = None,
    tenant: str | None = None, after: str | None = None, limit: int = 100,
) -> list[Job]:  # fmt: skip
    """What the inbox holds, for whoever works it off: oldest first, with payload and result; `after` is the last id of the
    previous page."""
    asked: dict[str, Any] = _filters([State.FAILED], operation, None, tenant) | _failed_like(kind, message, leaves=True)
    asked |= {"after": after, "after_id": check_id(after) if after else FIRST_ID, "limit": _checked(limit, _MOST_LISTED)}
    return await store.read(lambda tx: tx.jobs("list_failed", **asked))


async def search(store: Store, wanted: Wanted, *, after: str | None = None, limit: int = 50) -> Found:
    """One page. Rows come without payload and result."""
    _checked(limit, MOST_PER_PAGE)
    before = check_id(after) if after else LAST_ID
    if wanted.created_before is not None:
        before = min(before, first_at(wanted.created_before + _CLOCKS_DIFFER))
    return await store.read(partial(_search, wanted=wanted, before=before, limit=limit))


def _checked(limit: int, most: int) -> int:
    if not 1 <= limit <= most:
        raise ConfigurationError(f"limit must be 1 to {most:,} jobs per page, got {limit!r}")
    return limit


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
        **_filters(wanted.states, wanted.operation, wanted.queue, wanted.tenant),
        **_failed_like(wanted.kind, wanted.message, leaves=wanted.leaves),
        "parent": _plain_id(wanted.parent),
        "root": _plain_id(wanted.root),
        "roots": wanted.roots,
        "created_after": wanted.created_after,
        "created_before": wanted.created_before,
        "text": None if text is None else f"%{text}%",
        "prefix": None if text is None else f"{text}%",
    }


def _filters(states: Sequence[str], operation: str | None, queue: str | None, tenant: str | None) -> dict[str, object]:
    return {"states": list(states) or _ALL, "operation": operation, "queue": queue, "tenant": tenant}


def _failed_like(kind: str | None, message: str | None, *, leaves: bool) -> dict[str, object]:
    return {"kind": kind, "message": message, "leaves": leaves}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _plain_id(value: str | None) -> str | None:
    return None if value is None else str(UUID(value))
