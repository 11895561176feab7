"""Counts and other figures that many people look at, computed at most once a second."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from towpath.engine.app import App
from towpath.engine.counting import count_all, count_tenant
from towpath.server.schemas.jobs import Counts

T = TypeVar("T")

_FRESH = 1.0
_MOST_KEPT = 1000
_kept: WeakKeyDictionary[App, dict[Hashable, tuple[float, Any]]] = WeakKeyDictionary()


async def at_most_once_a_second(app: App, what: Hashable, make: Callable[[], Awaitable[T]]) -> T:
    """The last answer, if it is young enough."""
    kept = _kept.setdefault(app, {})
    found = kept.get(what)
    if found is not None and time.monotonic() - found[0] < _FRESH:
        value: T = found[1]
        return value
    asked = time.monotonic()
    made = await make()
    if len(kept) >= _MOST_KEPT:
        kept.clear()
    kept[what] = (asked, made)
    return made


def forget(app: App) -> None:
    """After a change that people will want to see at once."""
    _kept.pop(app, None)


async def counts_for(app: App, tenant: str | None) -> Counts:
    async def make() -> Counts:
        store = app.services.store
        found = await (count_all(store) if tenant is None else count_tenant(store, tenant))
        return Counts(
            queued=found.queued,
            running=found.running,
            waiting=found.waiting,
            succeeded_24h=found.succeeded,
            partial_24h=found.partial,
            failed_24h=found.failed,
            cancelled_24h=found.cancelled,
            capped=found.capped,
        )

    return await at_most_once_a_second(app, ("counts", tenant), make)
