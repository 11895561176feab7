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
from typing import Any

from towpath.core.ids import FIRST_ID, first_at
from towpath.core.lifecycle import State
from towpath.engine.changing.deleting import delete_jobs
from towpath.engine.services import Keep, Services
from towpath.engine.tending import event_batches, tombstones
from towpath.engine.values import blob_prefix
from towpath.store.contract import Row, Tx

log = logging.getLogger("towpath.retention")

_BATCH = 1000
_MOST_JOBS = 2000
_LONGEST_PAUSE = 1.0
_PAUSE = 0.2  # of the time that a batch took
_GOOD = [State.SUCCEEDED.value, State.CANCELLED.value]
_BAD = [State.FAILED.value, State.PARTIAL.value]


async def prune(services: Services) -> int:
    """One round by the rules: those of single queues first, then the settings for all other queues.

    It goes on until nothing is left that was old enough when it began, so it keeps up with any number of jobs. After each
    batch it pauses, so that a sixth of the time the database is everybody else's; batches are small."""
    rules, settings = services.retention, services.settings
    rest = Keep(settings.keep_succeeded_days, settings.keep_failed_days)
    total, others = 0, sorted(rules)
    for queue, keep in [*rules.items(), (None, rest)]:
        for states, days in ((_GOOD, keep.succeeded_days), (_BAD, keep.failed_days)):
            if days > 0:
                which = RootFilter(states, queue, () if queue is not None else tuple(others))
                total += await prune_older(services, which, timedelta(days=days))
    ages = [_told_for(keep) for keep in (*rules.values(), rest) if keep.succeeded_days > 0]
    await tombstones.forget(services.store, min(ages, default=tombstones.KEPT))
    if ages:
        await event_batches.prune(services.store, min(ages))
    return total


def _told_for(keep: Keep) -> timedelta:
    """How long what streams are told is kept, for those that come back."""
    return max(timedelta(days=keep.succeeded_days), tombstones.AT_LEAST)


@dataclass(frozen=True, slots=True)
class RootFilter:
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

    async def locked(self, tx: Tx, before: datetime, ids: list[str]) -> Sequence[Row]:
        """Those of them that are still old enough to go, for nobody else to touch."""
        return await tx.fetch("lock_prunable", states=self.states, before=before, ids=ids)


async def prune_older(services: Services, which: RootFilter, age: timedelta) -> int:
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
        removing = services.store.run(partial(_remove, which=which, before=before, ids=some))
        gone, (some, more) = await asyncio.gather(removing, look(some[-1]) if more else nothing())
        total += len(gone)
        pause = min(_LONGEST_PAUSE, _PAUSE * (time.monotonic() - began)) if some else 0
        await asyncio.gather(_remove_blobs(services, gone), asyncio.sleep(pause))
    if total:
        log.info("pruned %d jobs", total)
    return total


async def _remove_blobs(services: Services, gone: list[str]) -> None:
    await services.blobs.delete_prefixes([blob_prefix(job_id) for job_id in gone])


async def prune_all(services: Services, age: timedelta, *, failed: bool = False, queue: str | None = None) -> int:
    """Removes everything that ended longer than `age` ago, however much it is; failed and partial jobs only if asked."""
    return await prune_older(services, RootFilter([*_GOOD, *(_BAD if failed else [])], queue), age)


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


async def _remove(tx: Tx, which: RootFilter, before: datetime, ids: list[str]) -> list[str]:
    rows = await which.locked(tx, before, ids)
    gone = [str(row["id"]) for row in rows]
    parents = [str(row["id"]) for row in rows if row["children_total"]]
    if parents:
        gone = sorted({*gone, *(str(row["id"]) for row in await tx.fetch("descendants", ids=parents))})
    if gone:
        await delete_jobs(tx, gone)
    return gone
