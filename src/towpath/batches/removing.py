"""Deleting batches: their jobs first, then what they left, then the batch.

It begins with a mark, from which on the batch is gone for everybody. Should the process die in between, or a handler take
its time to stop, a job that was queued together with the mark finishes what was begun.
"""

from __future__ import annotations

from typing import Any

from towpath import App, Context, RetryLater, Transaction
from towpath.batches import datasets
from towpath.batches.names import BATCHES, DATASETS, KIND, REMOVE
from towpath.batches.records import Batch
from towpath.batches.staging import forget_work

_LATER = 5.0


async def remove(app: App, batch: Batch) -> int:
    """Deletes it, whatever is being done with it; answers how many that were. It is out of sight at once."""

    async def unit(tx: Transaction) -> tuple[int, str | None]:
        marked = await tx.change("batches_remove", ids=[batch.id], now=tx.now)
        await tx.tell(KIND, batch.id, tenant=batch.tenant)
        later = await tx.enqueue(REMOVE, {"batch": batch.id}, tenant=batch.tenant, delay=_LATER) if marked else None
        return marked, later

    marked, later = await app.transact(unit)
    if later is not None and await _finish(app, batch.id):
        await app.remove([later])  # nothing is left for it to do
    return marked


async def remove_later(app: App, ctx: Context, payload: dict[str, Any]) -> None:
    """What `remove` began."""
    if not await _finish(app, payload["batch"]):
        raise RetryLater("a job of it has a handler that has not ended yet", _LATER)


async def _finish(app: App, batch_id: str) -> bool:
    removed = await app.subjects.delete(KIND, batch_id)
    if not all(why == "not found" for why in removed.refused.values()):
        return False
    done = await datasets.done_with(app, batch_id)
    await forget_work(app.settings, app.blobs, batch_id)
    await app.blobs.delete_prefixes([f"{BATCHES}/{batch_id}", *(f"{DATASETS}/{one}" for one in done)])

    async def unit(tx: Transaction) -> None:
        if done:
            await tx.change("batch_datasets_delete", ids=done)
        await tx.change("gatherings_delete", ids=[batch_id])
        await tx.change("batches_delete", ids=[batch_id])

    await app.transact(unit)
    return True
