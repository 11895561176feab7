"""Pruning of finished jobs with everything that belongs to them, in small batches, by age and queue.

What failed is kept unless somebody says otherwise: it is what the inbox shows. A tree goes as a whole: its root is old
enough, and ended only after all its children.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from towpath.core.errors import JobNotFound, NotRequeueable
from towpath.core.ids import FIRST_ID, first_at
from towpath.core.lifecycle import State
from towpath.engine.tending import event_batches, tombstones
from towpath.engine.values import blob_prefix
from towpath.store.contract import Row, Tx

if TYPE_CHECKING:
    from towpath.engine.services import Services

log = logging.getLogger("towpath.retention")

_BATCH = 1000
_MOST_JOBS = 2000
_LONGEST_PAUSE = 1.0
_PAUSE = 0.25  # of the time that a batch took
_GOOD = [State.SUCCEEDED.value, State.CANCELLED.value]
_BAD = [State.FAILED.value, State.PARTIAL.value]


@dataclass(frozen=True, slots=True)
class Keep:
    """How long ended jobs stay, in days; 0 is for ever."""

    succeeded_days: float
    failed_days: float

    @property
    def streams_may_miss(self) -> timedelta | None:
        """How long what streams are told is kept, for those that come back; None is for ever."""
        return max(timedelta(days=self.succeeded_days), tombstones.AT_LEAST) if self.succeeded_days > 0 else None


async def prune(services: Services) -> int:
    """One round by the rules: those of single queues first, then the settings for all other queues.

    It goes on until nothing is left that was old enough when it began, so it keeps up with any number of jobs. After each
    batch it pauses, so that a fifth of the time the database is everybody else's; batches are small."""
    rules, settings = services.retention, services.settings
    rest = Keep(settings.keep_succeeded_days, settings.keep_failed_days)
    total, others = 0, sorted(rules)
    for queue, keep in [*rules.items(), (None, rest)]:
        for states, days in ((_GOOD, keep.succeeded_days), (_BAD, keep.failed_days)):
            if days > 0:
                which = Which(states, queue, () if queue is not None else tuple(others))
                total += await prune_older(services, which, timedelta(days=days))
    ages = [keep.streams_may_miss for keep in (*rules.values(), rest) if keep.streams_may_miss is not None]
    await tombstones.forget(services.store, min(ages, default=tombstones.KEPT))
    if ages:
        await event_batches.prune(services.store, min(ages))
    return total


@dataclass(frozen=True, slots=True)
class Which:
    """The roots a rule is about: by state, of one queue or of all but those of other rules."""

    states: list[str]
    queue: str | None = None
    but_not: tuple[str, ...] = ()

    async def old(self, tx: Tx, before: datetime, **page: Any) -> Sequence[Row]:
        # Ids are made in order of time: what was made after the limit cannot have ended before it, and is not looked at.
        return await tx.fetch(
            "prunable_roots", states=self.states, queue=self.queue, but_not=list(self.but_not), before=before,
            until=first_at(before), **page,
        )  # fmt: skip

    async def locked(self, tx: Tx, before: datetime, ids: list[str]) -> list[str]:
        """Those of them that are still old enough to go, for nobody else to touch."""
        return [str(row["id"]) for row in await tx.fetch("lock_prunable", states=self.states, before=before, ids=ids)]


async def prune_older(services: Services, which: Which, age: timedelta) -> int:
    """Removes trees whose root ended more than `age` ago; answers how many jobs went."""
    total, before = 0, await services.store.read(partial(_moment, age=age))

    async def look(after: str) -> tuple[list[str], bool]:
        """The next few, and whether there are more. Looked for beside the writer, and while those before them are being
        removed: what stays for ever is passed by each time, and nobody should wait for that."""
        found = await services.store.read(partial(which.old, before=before, after=after, limit=_BATCH))
        some = _of_bearable_size(found)
        return some, len(found) == _BATCH or len(some) < len(found)

    async def nothing() -> tuple[list[str], bool]:
        return [], False

    some, more = await look(FIRST_ID)
    while some:
        began = time.monotonic()
        removing = _remove_with_blobs(services, which, before, some)
        gone, (some, more) = await asyncio.gather(removing, look(some[-1]) if more else nothing())
        total += gone
        if some:
            await asyncio.sleep(min(_LONGEST_PAUSE, _PAUSE * (time.monotonic() - began)))
    if total:
        log.info("pruned %d jobs", total)
    return total


async def _remove_with_blobs(services: Services, which: Which, before: datetime, ids: list[str]) -> int:
    gone = await services.store.run(partial(_remove, which=which, before=before, ids=ids))
    await services.blobs.delete_prefixes([blob_prefix(job_id) for job_id in gone])
    return len(gone)


async def prune_all(services: Services, age: timedelta, *, failed: bool = False, queue: str | None = None) -> int:
    """Removes everything that ended longer than `age` ago, however much it is; failed and partial jobs only if asked."""
    return await prune_older(services, Which([*_GOOD, *(_BAD if failed else [])], queue), age)


async def _moment(tx: Tx, age: timedelta) -> datetime:
    return tx.now - age


def _of_bearable_size(rows: Sequence[Row]) -> list[str]:
    """As many trees as one small transaction can remove, and one in any case."""
    taken: list[str] = []
    jobs = 0
    for row in rows:
        jobs += 1 + row["children_total"]
        if taken and jobs > _MOST_JOBS:
            break
        taken.append(str(row["id"]))
    return taken


async def _remove(tx: Tx, which: Which, before: datetime, ids: list[str]) -> list[str]:
    roots = await which.locked(tx, before, ids)
    if not roots:
        return []
    gone = sorted({*roots, *(str(row["id"]) for row in await tx.fetch("descendants", ids=roots))})
    await delete_jobs(tx, gone)
    return gone


async def delete_jobs(tx: Tx, ids: list[str]) -> None:
    """The caller holds the rows' locks: whoever changed them in between would leave an event behind."""
    await tombstones.bury(tx, ids)
    for query in (
        "drop_leases", "delete_events", "delete_steps", "delete_job_usage", "delete_signals",
        "delete_provider_jobs", "delete_expenses", "drop_spend_waiters", "delete_owned", "delete_jobs",
    ):  # fmt: skip
        await tx.execute(query, ids=ids)


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
