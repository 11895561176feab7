"""Deleting jobs with all that belongs to them. Those that have not ended are cancelled first, if whoever deletes says so.

A handler that runs is asked to stop, and a job is only removed when it has: until then its handler may still write to
blobs or to systems of its own. Deleting waits for that a little while and then refuses, having cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from towpath.core.errors import JobNotFound, NotRequeueable
from towpath.engine.changing.cancelling import cancel
from towpath.engine.services import Services
from towpath.engine.values import blob_prefix
from towpath.store.contract import Store, Tx

PATIENCE = 5.0
"""Seconds that handlers get to end."""
_REASON = "it is being deleted"
_LOOK_EVERY = 0.05
_REMOVING = (
    "bury", "list_last", "drop_leases", "delete_events", "delete_steps", "delete_job_usage", "delete_signals",
    "delete_provider_jobs", "delete_expenses", "drop_spend_waiters", "delete_owned", "delete_jobs",
)  # fmt: skip
"""What a job leaves behind goes first. On PostgreSQL that is one statement, so none of them may need another's work."""


@dataclass(slots=True)
class Removed:
    """How many jobs went, children included, and why others did not."""

    jobs: int = 0
    gone: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


async def remove(services: Services, job_ids: Sequence[str]) -> Removed:
    """Cancels what is live, waits a little for its handlers to end, and removes the trees."""
    removed = Removed()
    roots = await _roots(services.store, job_ids, removed)
    live = [job_id for job_id, is_live in roots.items() if is_live]
    if live:
        await cancel(services.store, live, _REASON)
    waiting = dict.fromkeys(roots)
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while waiting:
        leased = await _leased(services.store, list(waiting))
        for job_id in [one for one in waiting if one not in leased]:
            del waiting[job_id]
            await _remove_one(services, job_id, removed)
        if waiting and asyncio.get_running_loop().time() >= deadline:
            break
        if waiting:
            await asyncio.sleep(_LOOK_EVERY)
    for job_id in waiting:
        removed.refused[job_id] = (
            "it was cancelled, but its handler has not ended yet (a thread cannot be interrupted); delete it again later"
        )
    return removed


async def _remove_one(services: Services, job_id: str, removed: Removed) -> None:
    try:
        removed.jobs += await delete_tree(services, job_id)
        removed.gone.append(job_id)
    except JobNotFound:
        removed.refused[job_id] = "not found"
    except NotRequeueable as error:  # somebody requeued it, or it got a child, in the meantime
        removed.refused[job_id] = str(error)


async def _roots(store: Store, job_ids: Sequence[str], removed: Removed) -> dict[str, bool]:
    """Those that can go at all -> whether they are live. A child goes with its whole tree or not at all."""
    asked = list(dict.fromkeys(job_ids))
    rows = {job.id: job for job in await store.read(lambda tx: tx.jobs("jobs_by_id", ids=asked))}
    found: dict[str, bool] = {}
    for job_id in asked:
        job = rows.get(job_id)
        if job is None:
            removed.refused[job_id] = "not found"
        elif job.parent_id is None:
            found[job_id] = job.live
        elif job.root_id not in rows:
            removed.refused[job_id] = f"it is a child of {job.parent_id}; delete {job.root_id} with all its children"
    return found


async def _leased(store: Store, roots: list[str]) -> set[str]:
    """Which of the trees still have a running handler."""

    async def unit(tx: Tx) -> set[str]:
        return {str(row["root_id"]) for row in await tx.fetch("leased_roots", roots=roots)}

    return await store.read(unit)


async def delete_tree(services: Services, job_id: str) -> int:
    """Removes one ended root job with all its descendants and their history."""

    async def unit(tx: Tx) -> list[str]:
        ids = sorted({job_id, *(str(row["id"]) for row in await tx.fetch("descendants", ids=[job_id]))})
        jobs = await tx.jobs("lock_jobs", ids=ids)
        if not any(job.id == job_id for job in jobs):
            raise JobNotFound(f"no job has the id {job_id}; it may have been deleted already")
        for job in jobs:
            if job.live or job.leased:
                raise NotRequeueable(f"job {job.id} is {job.state.value}; cancel it first and let its handler end")
            if job.id == job_id and job.parent_id is not None:
                raise NotRequeueable(f"job {job_id} is a child of {job.parent_id}; delete that one with all its children")
        await delete_jobs(tx, ids)
        return ids

    gone = await services.store.run(unit)
    await services.blobs.delete_prefixes([blob_prefix(job) for job in gone])
    return len(gone)


async def delete_jobs(tx: Tx, ids: list[str]) -> None:
    """The caller holds the rows' locks: whoever changed them in between would leave an event behind.

    Streams are told that they are gone, and whose they were; see `tending/tombstones.py`."""
    await tx.execute_all(_REMOVING, ids=ids, now=tx.now)
    tx.wake_streams = True
