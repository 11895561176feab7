"""Counts and other figures that many people look at, computed at most once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from towpath.engine.app import App
from towpath.engine.asking.counting import count_all, count_tenant
from towpath.server.schemas.jobs import Counts

T = TypeVar("T")

_FRESH = 1.0
_MOST_KEPT = 1000
Made = tuple[float, asyncio.Future[Any]]
"""When it was begun, and what it came or will come to."""
_kept: WeakKeyDictionary[App, dict[Hashable, Made]] = WeakKeyDictionary()


async def at_most_once_a_second(app: App, what: Hashable, make: Callable[[], Awaitable[T]]) -> T:
    """The last answer, if it is young enough. Those who ask while it is being made wait for the same one, however long
    it takes: a database that has become slow is not asked the same thing twice at once."""
    kept = _kept.setdefault(app, {})
    found = kept.get(what)
    if found is None or _is_stale(found):
        if len(kept) >= _MOST_KEPT:
            _make_room(kept)
        found = kept[what] = (time.monotonic(), asyncio.ensure_future(make()))
        found[1].add_done_callback(_failed)  # whoever asked may be gone by then
    value: T = await asyncio.shield(found[1])
    return value


def _is_stale(found: Made) -> bool:
    begun, made = found
    return made.done() and (_failed(made) or time.monotonic() - begun >= _FRESH)


def _make_room(kept: dict[Hashable, Made]) -> None:
    for what in [what for what, (_, made) in kept.items() if made.done()]:
        del kept[what]


def _failed(made: asyncio.Future[Any]) -> bool:
    return made.done() and (made.cancelled() or made.exception() is not None)


def forget(app: App) -> None:
    """After a change that people will want to see at once."""
    _kept.pop(app, None)


async def counts_for(app: App, tenant: str | None) -> Counts:
    async def make() -> Counts:
        store = app.services.store
        found = await (count_all(store) if tenant is None else count_tenant(store, tenant))
        return Counts(
            queued=found.queued,
            scheduled=found.scheduled,
            running=found.running,
            waiting=found.waiting,
            succeeded_24h=found.succeeded,
            partial_24h=found.partial,
            failed_24h=found.failed,
            cancelled_24h=found.cancelled,
            capped=found.capped,
        )

    return await at_most_once_a_second(app, ("counts", tenant), make)
