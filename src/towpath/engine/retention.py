"""Pruning of finished jobs with everything that belongs to them, in small batches, by age and queue.

What failed is kept unless somebody says otherwise: it is what the inbox shows. A tree goes as a whole: its root is old
enough, and ended only after all its children.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from towpath.core.errors import JobNotFound, NotRequeueable
from towpath.core.ids import FIRST_ID, first_at
from towpath.core.lifecycle import State
from towpath.engine import feed, tombstones
from towpath.engine.values import blob_prefix
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.services import Services

log = logging.getLogger("towpath.retention")

_BATCH = 200
_MOST_BATCHES = 50
_GOOD = [State.SUCCEEDED.value, State.CANCELLED.value]
_BAD = [State.FAILED.value, State.PARTIAL.value]


@dataclass(frozen=True, slots=True)
class Keep:
    """How long ended jobs stay, in days; 0 is for ever."""

    succeeded_days: float
    failed_days: float


async def prune(services: Services) -> int:
    """One round by the rules: those of single queues first, then the settings for all other queues."""
    rules, settings = services.retention, services.settings
    rest = Keep(settings.keep_succeeded_days, settings.keep_failed_days)
    total = 0
    for queue, keep in [*rules.items(), (None, rest)]:
        for states, days in ((_GOOD, keep.succeeded_days), (_BAD, keep.failed_days)):
            if days > 0:
                others = [] if queue is not None else sorted(rules)
                total += await prune_older(services, states, timedelta(days=days), queue, but_not=others)
    await tombstones.forget(services.store)
    await feed.prune(services)
    return total


async def prune_older(
    services: Services, states: list[str], age: timedelta, queue: str | None = None, *, but_not: list[str] | None = None
) -> int:
    """Removes trees whose root ended in one of `states` more than `age` ago; answers how many jobs went."""
    total, after = 0, FIRST_ID
    for _ in range(_MOST_BATCHES):
        roots, gone = await services.store.run(
            partial(_batch, states=states, age=age, queue=queue, but_not=but_not, after=after)
        )
        for job_id in gone:
            await services.blobs.delete_prefix(blob_prefix(job_id))
        total += len(gone)
        if len(roots) < _BATCH:
            break
        after = roots[-1]
    if total:
        log.info("pruned %d jobs", total)
    return total


async def prune_all(services: Services, age: timedelta, *, failed: bool = False, queue: str | None = None) -> int:
    """Removes everything that ended longer than `age` ago, however much it is; failed and partial jobs only if asked."""
    total = 0
    while gone := await prune_older(services, [*_GOOD, *(_BAD if failed else [])], age, queue):
        total += gone
    return total


async def _batch(
    tx: Tx, states: list[str], age: timedelta, queue: str | None, but_not: list[str] | None, after: str
) -> tuple[list[str], list[str]]:
    before = tx.now - age
    # Ids are made in order of time: what was made after the limit cannot have ended before it, and is not looked at.
    page = {"after": after, "until": first_at(before), "limit": _BATCH}
    rows = await tx.fetch("prunable_roots", states=states, before=before, queue=queue, but_not=but_not or [], **page)
    roots = [str(row["id"]) for row in rows]
    if not roots:
        return [], []
    ids = sorted({*roots, *(str(row["id"]) for row in await tx.fetch("descendants", ids=roots))})
    await delete_jobs(tx, ids)
    return roots, ids


async def delete_jobs(tx: Tx, ids: list[str]) -> None:
    """The caller holds the rows' locks: whoever changed them in between would leave an event behind."""
    await tombstones.bury(tx, ids)
    for table in ("delete_events", "delete_steps", "delete_job_usage", "delete_signals", "delete_owned", "delete_jobs"):
        await tx.execute(table, ids=ids)


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
    for job in gone:
        await services.blobs.delete_prefix(blob_prefix(job))
    return len(gone)
