"""The inbox grouped by cause, at a bounded cost: over the newest failures, of all tenants or of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from towpath.core.ids import FIRST_ID, LAST_ID
from towpath.core.lifecycle import State
from towpath.store.contract import Row, Store, Tx

MOST_GROUPED = 5000
HOURS = 24


@dataclass(slots=True)
class Cause:
    """Failures of one cause. `trend` counts them per hour, oldest first; `example` is the newest."""

    operation: str
    kind: str
    message: str
    first_at: datetime
    last_at: datetime
    example: str
    jobs: int = 0
    trend: list[int] = field(default_factory=lambda: [0] * HOURS)


async def causes(store: Store, tenant: str | None) -> tuple[list[Cause], bool]:
    """The groups, largest first, and whether there are more failures than were looked at."""

    async def unit(tx: Tx) -> tuple[list[Cause], bool]:
        page = {"state": State.FAILED.value, "before": LAST_ID, "since": FIRST_ID, "limit": MOST_GROUPED + 1}
        if tenant is None:
            rows = await tx.fetch("ids_in_state", **page)
        else:
            rows = await tx.fetch("ids_in_state_owned", tenant=tenant, **page)
        ids = [str(row["id"]) for row in rows[:MOST_GROUPED]]
        found = await tx.fetch("failures_of", ids=ids) if ids else []
        failures = [row for row in found if row["state"] == State.FAILED and row["kind"] != "children"]
        return group(failures, tx.now), len(rows) > MOST_GROUPED

    return await store.read(unit)


def group(failures: Iterable[Row], now: datetime) -> list[Cause]:
    found: dict[tuple[str, str, str], Cause] = {}
    for row in failures:
        key, at, job_id = (row["operation"], row["kind"], row["message"]), row["finished_at"], str(row["id"])
        cause = found.setdefault(key, Cause(*key, first_at=at, last_at=at, example=job_id))
        cause.jobs += 1
        cause.first_at = min(cause.first_at, at)
        if at >= cause.last_at:
            cause.last_at, cause.example = at, job_id
        hours_ago = int((now - at).total_seconds() // 3600)
        if 0 <= hours_ago < HOURS:
            cause.trend[HOURS - 1 - hours_ago] += 1
    return sorted(found.values(), key=lambda cause: (-cause.jobs, cause.operation, cause.kind, cause.message))
