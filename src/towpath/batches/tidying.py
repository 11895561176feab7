"""Removes what was staged for a batch whose job ended without doing so itself: cancelled, or failed on the way."""

from __future__ import annotations

from typing import Any

from towpath import App, Context, RetryLater, State, Transaction
from towpath.batches import stored
from towpath.batches.names import KIND, TIDY
from towpath.batches.records import Batch
from towpath.batches.staging import forget_staged, forget_work

_LATER = 600.0
_STOPPING = 5.0


async def tidy(app: App, ctx: Context, payload: dict[str, Any]) -> None:
    """Waits until nothing is done with the batch any more."""
    batch_id = payload["batch"]
    if not await stored.by_ids(app, [batch_id]):
        return  # it was deleted, and everything of it
    jobs = (await app.subjects.jobs(KIND, [batch_id]))[batch_id]
    if any(job.live for job in jobs):
        raise RetryLater("the batch is under way", _LATER)
    if any(job.state is State.CANCELLED for job in jobs):
        await forget_work(ctx.settings, ctx.blobs, batch_id)
    else:  # what has come back of it may be paid for, and a retry fetches the rest
        await forget_staged(ctx.settings, ctx.blobs, batch_id)


async def tidy_later(tx: Transaction, batch: Batch) -> None:
    """Should the job end in a way that it has no say in, somebody else cleans up. That is no job of the batch's own, which
    cancelling the batch would stop."""
    await tx.enqueue(TIDY, {"batch": batch.id}, tenant=batch.tenant, delay=_LATER, subject=None)


async def tidy_soon(app: App, batch: Batch) -> None:
    """For a batch that was just stopped: its handler may take a moment to notice."""
    await app.enqueue(TIDY, {"batch": batch.id}, tenant=batch.tenant, delay=_STOPPING)
