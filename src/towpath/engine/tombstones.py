"""What remains of a deleted job for a while: whose it was, so that streams of events can say that it is gone.

The row is written by the transaction that deletes the job. A stream that comes back within `STREAMS_RETURN_WITHIN` is told
of every deletion it has missed; later ones are told to start over, and nobody needs the tombstones any more.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from towpath.store.contract import Store, Tx

STREAMS_RETURN_WITHIN = timedelta(days=7)
KEPT = STREAMS_RETURN_WITHIN + timedelta(days=1)  # a transaction's rows bear the time it began, not when it committed
_BATCH = 10_000


async def bury(tx: Tx, job_ids: list[str]) -> None:
    """To be called before the jobs' rows are removed."""
    await tx.execute("bury", ids=job_ids, now=tx.now)
    tx.told = True


async def forget(store: Store, older_than: timedelta = KEPT) -> int:
    """Removes what no stream can ask for any more; a bounded number at a time."""
    return await store.run(partial(_forget, older_than=older_than))


async def _forget(tx: Tx, older_than: timedelta) -> int:
    return await tx.execute("forget_tombstones", before=tx.now - older_than, limit=_BATCH)
