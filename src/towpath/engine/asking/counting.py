"""How many jobs there are in each state, at a bounded cost: from rollups for all tenants, from the newest jobs for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from towpath.core.ids import FIRST_ID, LAST_ID, first_at
from towpath.core.lifecycle import State
from towpath.store.contract import Store, Tx

MOST_COUNTED = 5000
_DAY = timedelta(hours=24)
_POOL = 2000


@dataclass(slots=True)
class Counts:
    """What is going on now, and what ended in the last 24 hours. `capped`: there are more than could be counted."""

    queued: int = 0
    scheduled: int = 0
    """Of those that are queued: they wait for their time, and no worker could take them now."""
    running: int = 0
    waiting: int = 0
    succeeded: int = 0
    partial: int = 0
    failed: int = 0
    cancelled: int = 0
    capped: bool = False


async def count_all(store: Store) -> Counts:
    async def unit(tx: Tx) -> Counts:
        counts = Counts()
        for row in await tx.fetch("depths"):
            counts.queued += max(0, row["queued"])
            counts.running += max(0, row["running"])
            counts.waiting += max(0, row["waiting"])
        counts.scheduled = min(counts.queued, await _scheduled(tx, None))
        [ended] = await tx.fetch("ended_since", since=tx.now - _DAY)
        for state in ("succeeded", "partial", "failed", "cancelled"):
            setattr(counts, state, ended[state])
        return counts

    return await store.read(unit)


async def count_tenant(store: Store, tenant: str) -> Counts:
    """Exact for a tenant with up to 5,000 jobs. Of a larger one the newest are counted, and whatever has an index."""

    async def unit(tx: Tx) -> Counts:
        counts = Counts()
        rows = await tx.fetch("ids_owned", tenant=tenant, before=LAST_ID, since=FIRST_ID, limit=MOST_COUNTED + 1)
        ids = [str(row["id"]) for row in rows[:MOST_COUNTED]]
        await _add(tx, counts, ids, None)
        if len(rows) > MOST_COUNTED:
            counts.capped = ids[-1] >= first_at(tx.now - _DAY)
            await _older_ones(tx, counts, tenant)
        counts.scheduled = min(counts.queued, await _scheduled(tx, tenant))
        return counts

    return await store.read(unit)


async def _scheduled(tx: Tx, tenant: str | None) -> int:
    [row] = await tx.fetch("scheduled_jobs", now=tx.now, tenant=tenant, limit=MOST_COUNTED)
    return int(row["jobs"])


async def _add(tx: Tx, counts: Counts, ids: Sequence[str], tenant: str | None) -> None:
    if not ids:
        return
    for row in await tx.fetch("states_of", ids=ids, tenant=tenant, since=tx.now - _DAY):
        live = row["state"] in (State.QUEUED, State.RUNNING, State.WAITING)
        setattr(counts, row["state"], row["jobs"] if live else row["recent"])


async def _older_ones(tx: Tx, counts: Counts, tenant: str) -> None:
    """What is live or has failed among the jobs that are too old to be among the newest."""
    for pool in ("running_pool", "queued_pool"):
        rows = await tx.fetch(pool, limit=_POOL + 1)
        if len(rows) > _POOL:
            counts.capped = True
        else:
            await _add(tx, counts, [str(row["id"]) for row in rows], tenant)
    for state in ("waiting", "partial", "failed", "cancelled"):
        rows = await tx.fetch("ids_in_state_owned", tenant=tenant, state=state, before=LAST_ID, since=FIRST_ID, limit=_POOL)
        await _add(tx, counts, [str(row["id"]) for row in rows], None)
        counts.capped = counts.capped or getattr(counts, state) >= _POOL
