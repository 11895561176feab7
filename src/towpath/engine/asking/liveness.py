"""Which workers are alive: the one rule for `explain`, `doctor`, the pages, the metrics and the command.

A worker is alive until the leases that its last beat renewed run out; from then on its jobs are rescued.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from towpath.core.encoding import decode
from towpath.core.records import WorkerRow
from towpath.store.contract import Row, Store, Tx

_OLDER_RELEASE = timedelta(seconds=60)  # its workers do not say how long their leases are
# A beat may be that much newer than the look at it; one from further ahead was written before the clock was moved back.
_AHEAD = timedelta(seconds=5)


def is_alive(seen_at: datetime | None, alive_until: datetime | None, stopped_at: datetime | None, now: datetime) -> bool:
    if seen_at is None or stopped_at is not None:
        return False
    return seen_at <= now + _AHEAD and now < (alive_until or seen_at + _OLDER_RELEASE)


def alive(row: Row, now: datetime) -> bool:
    return is_alive(row["seen_at"], row["alive_until"], row["stopped_at"], now)


async def live_workers(tx: Tx) -> Sequence[Row]:
    """The oldest first."""
    rows = await tx.fetch("perhaps_alive", now=tx.now, since=tx.now - _OLDER_RELEASE)
    return [row for row in rows if alive(row, tx.now)]


def lease_seconds(row: Row, otherwise: float) -> float:
    """How long a worker's leases last, if its row says so."""
    if row["alive_until"] is None or row["seen_at"] is None:
        return otherwise
    lease: timedelta = row["alive_until"] - row["seen_at"]
    return lease.total_seconds()


def patience(alive: Sequence[Row]) -> float:
    """In how many seconds somebody of these rescues a job whose worker is dead, at the latest."""
    return max(lease_seconds(row, _OLDER_RELEASE.total_seconds()) for row in alive)


async def furthest_lease(tx: Tx, lease: float = 0.0) -> datetime | None:
    """Until when a lease can last: one that ends later was given before the clock was moved back. This is twice the longest
    that anybody gives: what ends before that runs out soon enough by itself. None if nobody is known to give any."""
    longest = max(lease, (await tx.fetch("longest_lease"))[0]["seconds"] or 0.0)
    return tx.now + timedelta(seconds=2 * longest) if longest else None


async def silent_workers(tx: Tx) -> Sequence[Row]:
    """Those that have neither stopped nor been heard of: killed, frozen, or cut off."""
    rows = await tx.fetch("unstopped_workers")
    return [row for row in rows if not alive(row, tx.now)]


async def workers(store: Store) -> list[WorkerRow]:
    """All that are remembered, alive or not."""
    return [_worker_from(row) for row in await store.read(lambda tx: tx.fetch("workers"))]


def _worker_from(row: Row) -> WorkerRow:
    values = {name: row[name] for name in WorkerRow.__dataclass_fields__}
    values["queues"], values["operations"] = decode(values["queues"]), decode(values["operations"])
    return WorkerRow(**values)
