"""Pruning of the feed: what streams were told of many jobs at once.

It goes by age and queue with the rule for succeeded jobs, see `tombstones.py` for what that means for streams. There is no
index for that, because every commit would pay for it. Each rule walks through the feed in its order and remembers how
far it has come; after a restart it walks once more.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from towpath.engine import tombstones
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.services import Services

_BATCH = 2_000
_LONGEST_PAUSE = 1.0
_START = "0"


async def prune(services: Services, age: timedelta, queue: str | None, but_not: list[str]) -> None:
    """One round of one rule: of a queue, or of all but those that have rules of their own."""
    walk, rule = services.walked, (queue, tuple(but_not))
    while True:
        began = time.monotonic()
        after = walk.get(rule, _START)
        upto = await services.store.read(partial(_page_end, age=age, after=after))
        if upto is None:
            break
        forget = partial(_forget, age=age, queue=queue, but_not=but_not, after=after, upto=upto)
        await services.store.run(forget)
        walk[rule] = upto
        await asyncio.sleep(min(_LONGEST_PAUSE, time.monotonic() - began))


async def _page_end(tx: Tx, age: timedelta, after: str) -> str | None:
    [page] = await tx.fetch("feed_page", after=after, before=tx.now - age, limit=_BATCH)
    upto: str | None = page["upto"]
    return upto


async def _forget(tx: Tx, age: timedelta, queue: str | None, but_not: list[str], after: str, upto: str) -> int:
    await tombstones.raise_floor(tx, age)
    return await tx.execute("forget_feed", queue=queue, but_not=but_not, after=after, upto=upto)
