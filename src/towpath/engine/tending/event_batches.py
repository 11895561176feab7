"""Pruning of what streams are told: which events were committed, and in which order. Histories do not need it.

It goes by age alone, by the shortest of the rules for succeeded jobs: a stream that comes back from before that is told to
start over in any case, see `tombstones.py`. Batches are walked through in their own order, which is nearly that of time: an
index for that would be paid for by every commit.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from functools import partial

from towpath.engine.tending import tombstones
from towpath.store.contract import Store, Tx

_BATCH = 2_000
_LONGEST_PAUSE = 1.0
_START = "0"


async def prune(store: Store, age: timedelta) -> None:
    """Until nothing is left that is older; pauses as long as it works."""
    after = _START
    while True:
        began = time.monotonic()
        upto = await store.read(partial(_page_end, age=age, after=after))
        if upto is None:
            break
        await store.run(partial(_forget, age=age, after=after, upto=upto))
        after = upto
        await asyncio.sleep(min(_LONGEST_PAUSE, time.monotonic() - began))


async def _page_end(tx: Tx, age: timedelta, after: str) -> str | None:
    [page] = await tx.fetch("old_batches", after=after, before=tx.now - age, limit=_BATCH)
    upto: str | None = page["upto"]
    return upto


async def _forget(tx: Tx, age: timedelta, after: str, upto: str) -> int:
    await tombstones.raise_floor(tx, age)
    return await tx.execute("forget_batches", after=after, upto=upto)
