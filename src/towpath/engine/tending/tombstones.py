"""What remains of a deleted job for a while: whose it was, so that streams of events can say that it is gone.

The row is written by the transaction that deletes the job (`changing/deleting.py`). It, notices (`engine/notices.py`) and
what streams are told (`event_batches.py`) go with the shortest retention that was set for succeeded jobs, but no earlier
than after an hour, and tombstones after eight days at the latest. Whoever removes something raises a floor: a stream that
comes back from below it could have missed something, and is told to start over. So is one that has been away for more than
`STREAMS_RETURN_WITHIN`.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from functools import partial

from towpath.store.contract import Store, Tx

STREAMS_RETURN_WITHIN = timedelta(days=7)
KEPT = STREAMS_RETURN_WITHIN + timedelta(days=1)
AT_LEAST = timedelta(hours=1)
_BATCH = 10_000
_LONGEST_PAUSE = 1.0


async def forget(store: Store, older_than: timedelta = KEPT) -> int:
    """Removes what is older, in small transactions, until there is none."""
    age, total = min(older_than, KEPT), 0
    while True:
        began = time.monotonic()
        gone = await store.run(partial(_forget, age=age))
        total += gone
        if gone < _BATCH:
            return total
        await asyncio.sleep(min(_LONGEST_PAUSE, time.monotonic() - began))


async def _forget(tx: Tx, age: timedelta) -> int:
    page = {"before": tx.now - age, "limit": _BATCH}
    gone = await tx.execute("forget_tombstones", **page) + await tx.execute("forget_notices", **page)
    if gone:
        await raise_floor(tx, age)
    return gone


async def raise_floor(tx: Tx, age: timedelta) -> None:
    """What is older than `age` goes in this transaction. Rows bear the time their transaction began, not when it committed:
    a quarter of the age, a day at most, is left for that."""
    await tx.execute("raise_floor", until=tx.now - age + min(timedelta(days=1), age / 4), now=tx.now)
