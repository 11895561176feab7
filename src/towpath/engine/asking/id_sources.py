"""Where the ids of a search come from: the index that fits its filter best.

A source answers the newest ids below a given one, at most so many, and never fewer than there are. It may answer ids that
do not fit: the rows are looked at anyway.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from towpath.core.ids import FIRST_ID, LAST_ID, first_at, moment_of
from towpath.core.lifecycle import State
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.asking.listing import Wanted

Source = Callable[[Tx, str, int], Awaitable[list[str]]]
"""(transaction, before, count) -> ids, newest first."""


# Up to so many ids are gathered at once where an index is not in the order of ids.
_POOL = 2000
_MOST_GROUPS = 20
_EPOCH = datetime.fromtimestamp(0, UTC)
_INDEXED = frozenset({State.WAITING, State.PARTIAL, State.FAILED, State.CANCELLED})
_ID_PREFIX = re.compile(r"[0-9a-f]{8}(-?[0-9a-f-]*)")


async def best_sources(tx: Tx, wanted: Wanted, since: str | None) -> list[Source]:
    since = since or FIRST_ID
    if wanted.text is not None and (whole := _whole_id(wanted.text)):
        return [_pool([whole])]
    if wanted.parent is not None:
        return await _children(tx, wanted, str(UUID(wanted.parent)), since)
    if wanted.root is not None:
        return await _tree(tx, wanted, str(UUID(wanted.root)), since)
    return await _by_id_prefix(tx, wanted) or await _by_state(tx, wanted, since) or [_everything(wanted.tenant, since)]


def _indexed(query: str, since: str, **params: Any) -> Source:
    async def take(tx: Tx, before: str, count: int) -> list[str]:
        return [str(row["id"]) for row in await tx.fetch(query, before=before, since=since, limit=count, **params)]

    return take


def _pool(ids: Sequence[str]) -> Source:
    ordered = sorted(set(ids), reverse=True)

    async def take(_tx: Tx, before: str, count: int) -> list[str]:
        return [one for one in ordered if one < before][:count]

    return take


def _everything(tenant: str | None, since: str) -> Source:
    if tenant is None:
        return _indexed("ids_newest", since)
    return _indexed("ids_owned", since, tenant=tenant)


async def _children(tx: Tx, wanted: Wanted, parent: str, since: str) -> list[Source]:
    groups = await tx.fetch("child_groups", parent_id=parent, limit=_MOST_GROUPS + 1)
    if len(groups) > _MOST_GROUPS:
        return [_everything(wanted.tenant, max(since, _made_before(parent)))]
    return [_indexed("ids_of_children", since, parent_id=parent, child_group=row["child_group"]) for row in groups]


async def _tree(tx: Tx, wanted: Wanted, root: str, since: str) -> list[Source]:
    found, parents = {root}, [root]
    for visited, parent in enumerate(parents):  # it grows on the way
        rows = await tx.fetch("some_children", parent_id=parent, limit=_POOL + 1)
        found.update(str(row["id"]) for row in rows)
        parents += [str(row["id"]) for row in rows if row["children_total"] > 0]
        if len(found) > _POOL or visited == _MOST_GROUPS:
            return [_everything(wanted.tenant, max(since, _made_before(root)))]
    return [_pool(list(found))]


def _made_before(job_id: str) -> str:
    """Below every id of its descendants, even if another host made them and its clock is late."""
    return first_at(max(_EPOCH, moment_of(job_id) - timedelta(hours=1)))


async def _by_state(tx: Tx, wanted: Wanted, since: str) -> list[Source] | None:
    """A source for each state that is asked for; None if one of them has none."""
    sources: list[Source] = []
    for state in sorted(set(wanted.states)):
        if state in _INDEXED:
            sources.append(_of_indexed_state(wanted, state, since))
        elif state in (State.QUEUED, State.RUNNING):
            rows = await tx.fetch(f"{state}_pool", limit=_POOL + 1)
            if len(rows) > _POOL:
                return None
            sources.append(_pool([str(row["id"]) for row in rows]))
        else:
            return None
    return sources or None


def _of_indexed_state(wanted: Wanted, state: str, since: str) -> Source:
    if wanted.tenant is not None:
        return _indexed("ids_in_state_owned", since, tenant=wanted.tenant, state=state)
    if state == State.FAILED and wanted.operation is not None:
        return _indexed("ids_failed_operation", since, operation=wanted.operation)
    return _indexed("ids_in_state", since, state=state)


async def _by_id_prefix(tx: Tx, wanted: Wanted) -> list[Source] | None:
    """Jobs whose ids begin with the text are found at once, however old. If there are none, it is not that kind of text."""
    bounds = _id_range(wanted.text) if wanted.text is not None else None
    if bounds is None:
        return None
    source = _within(_everything(wanted.tenant, bounds[0]), bounds[1])
    return [source] if await source(tx, LAST_ID, 1) else None


def _within(source: Source, high: str) -> Source:
    async def take(tx: Tx, before: str, count: int) -> list[str]:
        return await source(tx, min(before, high), count)

    return take


def _whole_id(text: str) -> str | None:
    try:
        return str(UUID(text)) if len(text) == 36 else None
    except ValueError:
        return None


def _id_range(text: str) -> tuple[str, str] | None:
    """The ids that begin so: from the lowest to just above the highest. Fewer than eight digits are no id."""
    lowered = text.lower()
    if not _ID_PREFIX.fullmatch(lowered) or not FIRST_ID.startswith(re.sub("[0-9a-f]", "0", lowered)):
        return None
    return lowered + FIRST_ID[len(lowered) :], lowered + LAST_ID[len(lowered) :]
