"""Requests that may be sent twice: an Idempotency-Key makes one job, however often it is repeated within a day.

The key's row and the job commit together. Of two equal requests at the same time the second one waits for the first
one's row, and then finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from towpath.core.records import NewJob
from towpath.engine.services import Services
from towpath.engine.values import blob_prefix
from towpath.store.contract import Store, Tx

REMEMBERED = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Once:
    """The key as the caller chose it, and a hash of everything that was asked for with it."""

    key: str
    body_hash: str


@dataclass(slots=True)
class Made:
    """`created`: it is new. `conflict`: the key stands for another request, and nothing was made."""

    job_id: str
    created: bool
    conflict: bool = False


async def enqueue(services: Services, job: NewJob, once: Once | None) -> Made:
    """Adds the job, unless its idempotency key or its own key says that it is there."""
    placed = not services.values.small(job.payload_json)
    if placed:
        await services.place_payload(job)

    if once is None:
        [added] = await services.store.enqueue([job])
        made = Made(added.id, added.id == job.id)
    else:
        made = await services.store.run(partial(_once, job=job, once=once))
    if placed and made.job_id != job.id:  # what was put aside for this one is nobody's
        await services.blobs.delete_prefix(blob_prefix(job.id))
    return made


async def _once(tx: Tx, job: NewJob, once: Once) -> Made:
    name = {"tenant": job.tenant, "operation": job.operation, "key": once.key}
    taken = await tx.fetch(
        "take_idempotency", **name, body_hash=once.body_hash, job_id=job.id, now=tx.now, forgotten=tx.now - REMEMBERED
    )
    if not taken:
        [known] = await tx.fetch("idempotency", **name)
        job_id = str(known["job_id"])
        # Its own id: the commit had come through, and only the answer to it was lost.
        return Made(job_id, job_id == job.id, conflict=known["body_hash"] != once.body_hash)
    [added] = await tx.insert_jobs([job])
    if added.id != job.id:
        await tx.execute("redirect_idempotency", **name, job_id=added.id)
    return Made(added.id, added.id == job.id)


async def forget(store: Store) -> int:
    """Removes what need not be remembered any longer."""
    return await store.run(lambda tx: tx.execute("forget_idempotency", before=tx.now - REMEMBERED))
