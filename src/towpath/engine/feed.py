"""Pruning of the feed: what streams were told of many jobs at once.

It goes by age and queue with the rule for succeeded jobs, and never before a stream that may come back has read it. There is
no index for that, because every commit would pay for it. Each rule walks through the feed in its order and remembers how
far it has come; after a restart it walks once more.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from towpath.engine import tombstones
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.services import Services

_BATCH = 2_000
_MOST_BATCHES = 50
_START = "0"


async def prune(services: Services) -> None:
    """One round: single queues that have a rule, then all others."""
    for queue, keep in services.retention.items():
        await _prune(services, keep.succeeded_days, queue)
    await _prune(services, services.settings.keep_succeeded_days, None)


async def _prune(services: Services, days: float, queue: str | None) -> None:
    if days <= 0:  # for ever
        return
    others = tuple(sorted(services.retention)) if queue is None else ()
    walk = services.walked
    for _ in range(_MOST_BATCHES):
        after = walk.get((queue, others), _START)
        age = max(timedelta(days=days), tombstones.KEPT)
        upto = await services.store.read(partial(_page_end, age=age, after=after))
        if upto is None:
            break
        forget = partial(_forget, queue=queue, but_not=list(others), after=after, upto=upto)
        await services.store.run(forget)
        walk[queue, others] = upto


async def _page_end(tx: Tx, age: timedelta, after: str) -> str | None:
    [page] = await tx.fetch("feed_page", after=after, before=tx.now - age, limit=_BATCH)
    upto: str | None = page["upto"]
    return upto


async def _forget(tx: Tx, queue: str | None, but_not: list[str], after: str, upto: str) -> int:
    return await tx.execute("forget_feed", queue=queue, but_not=but_not, after=after, upto=upto)
