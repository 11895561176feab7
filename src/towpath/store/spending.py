"""Spend limits: what may be spent, what has been, and who waits for more.

Work that costs says beforehand what it may cost, and afterwards what it did. The first is held back from whatever is left
for its tenant and its run; if that is too little the job waits, and goes on when a limit is raised, a month begins, or
something else turned out to be cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath.core.encoding import encode
from towpath.core.failpoints import reach
from towpath.core.lifecycle import State
from towpath.core.records import Job, Step
from towpath.core.waking import wake
from towpath.core.working_set import WorkingSet
from towpath.store import journal, ledger
from towpath.store.contract import Row, Tx

TENANT, RUN = "tenant", "run"
MONTH, EVER = "month", "ever"


@dataclass(frozen=True, slots=True)
class Limit:
    """`spent` counts what is held back for work that is under way, too."""

    scope: str
    name: str
    cents: float
    period: str
    spent: float


@dataclass(frozen=True, slots=True)
class Reserved:
    """`short` is the limit that has no room for it, if one has not."""

    wakes: int
    step: Step | None = None
    short: Limit | None = None


def month_of(moment: datetime) -> str:
    return f"{moment:%Y-%m}"


def next_month(moment: datetime) -> datetime:
    year, month = divmod(moment.year * 12 + moment.month, 12)
    return moment.replace(year=year, month=month + 1, day=1, hour=0, minute=0, second=0, microsecond=0)


async def reserve(tx: Tx, job_id: str, attempt: int, name: str, cents: float, run_limit: float | None) -> Reserved:
    """Holds `cents` back, or says which limit has no room for them."""
    job = await journal.hold(tx, job_id, attempt)
    found = await tx.fetch("step_by_name", job_id=job_id, name=name)
    if found:
        return Reserved(job.wakes, journal.step_from(found[0]))
    if run_limit is not None and not await tx.fetch("spend_limit", scope=RUN, name=job.root_id):
        await tx.execute("put_spend_limit", scope=RUN, name=job.root_id, cents=run_limit, period=EVER, now=tx.now)
    month = month_of(tx.now)
    accounts = await _add(tx, job.tenant, job.root_id, month, cents)
    await reach("spend.added")
    short = await _short(tx, job, month, accounts)
    if short is not None:
        await _add(tx, job.tenant, job.root_id, month, -cents)
        await tx.execute("add_spend_waiter", job_id=job_id, tenant=job.tenant)
        working = WorkingSet([job], tx.now)
        said = {"scope": short.scope, "limit_cents": short.cents, "spent_cents": short.spent - cents, "cents": cents}
        working.note(job, "budget.short", fields=said)
        await ledger.write(tx, working)
        return Reserved(job.wakes, short=short)
    await tx.execute("drop_spend_waiters", ids=[job_id])
    before = await tx.fetch("expense", job_id=job_id, name=name)  # of an earlier life, whose records were dropped
    already = float(before[0]["cents"]) if before else 0.0
    await _put(tx, job_id, name, job.tenant, job.root_id, month, already + cents, settled=False)
    working = WorkingSet([job], tx.now)
    step = Step(job_id, name, "spend", output_json=encode({"cents": cents, "before": already}))
    step = await journal.put_step(tx, job, step) or step
    working.note(job, "budget.held", fields={"cents": cents})
    await ledger.write(tx, working)
    return Reserved(job.wakes, step)


async def settle(tx: Tx, job_id: str, attempt: int, name: str, cents: float) -> bool:
    """What it really cost; said again, it counts once. Whether others may have money now."""
    job = await journal.hold(tx, job_id, attempt)
    rows = await tx.fetch("expense", job_id=job_id, name=name)
    if not rows or rows[0]["settled"]:
        return False
    await _correct(tx, rows[0], cents)
    working = WorkingSet([job], tx.now)
    working.note(job, "budget.spent", fields={"cents": cents, "held_cents": rows[0]["cents"]})
    await ledger.write(tx, working)
    return bool(cents < rows[0]["cents"])


async def release_idle(tx: Tx, job_ids: Iterable[str]) -> None:
    """Jobs that have ended: what was held back for work that was never ordered is free again."""
    for row in await tx.fetch("idle_expenses", job_ids=sorted(job_ids)):
        await _correct(tx, row, 0.0)


async def set_limit(tx: Tx, scope: str, name: str, tenant: str, cents: float | None, period: str) -> None:
    """`wake_tenant` has to follow. Whoever is just finding out that there is too little is waited for, by the lock of the
    account: afterwards he is listed."""
    await tx.fetch("add_to_account", scope=TENANT, name=tenant, period=EVER, cents=0.0)
    if cents is None:
        await tx.execute("drop_spend_limit", scope=scope, name=name)
    else:
        await tx.execute("put_spend_limit", scope=scope, name=name, cents=cents, period=period, now=tx.now)


async def wake_tenant(tx: Tx, tenant: str) -> None:
    """Everybody who waits for money looks again; who comes too late waits on."""
    ids = [str(row["job_id"]) for row in await tx.fetch("spend_waiters", tenant=tenant)]
    if not ids:
        return
    jobs = await tx.jobs("lock_jobs", ids=ids)
    working = WorkingSet(jobs, tx.now)
    for job in jobs:
        if job.live and (job.state is not State.WAITING or job.reason == "budget"):
            wake(working, job, "budget")  # one that has not come to wait yet is told by the count
    await tx.execute("drop_spend_waiters", ids=ids)
    await ledger.write(tx, working)


async def limits(tx: Tx, after: str, limit: int) -> list[Limit]:
    """Those of tenants, by name, with what they have spent of them."""
    rows = await tx.fetch("spend_limits", month=month_of(tx.now), after=after, limit=limit)
    return [Limit(row["scope"], row["name"], row["cents"], row["period"], row["spent"]) for row in rows]


async def standing(tx: Tx, job: Job) -> list[Limit]:
    """The limits that a job is under."""
    found = [await limit_of(tx, scope, name) for scope, name in ((TENANT, job.tenant), (RUN, job.root_id))]
    return [limit for limit in found if limit is not None]


async def limit_of(tx: Tx, scope: str, name: str) -> Limit | None:
    for row in await tx.fetch("spend_limit", scope=scope, name=name):
        period = month_of(tx.now) if row["period"] == MONTH else EVER
        accounts = await tx.fetch("spend_account", scope=scope, name=name, period=period)
        return Limit(scope, name, row["cents"], row["period"], accounts[0]["cents"] if accounts else 0.0)
    return None


async def _add(tx: Tx, tenant: str, run: str, month: str, cents: float) -> dict[tuple[str, str], float]:
    """Adds to every account that counts, always in this order."""
    accounts: dict[tuple[str, str], float] = {}
    for scope, name, period in ((TENANT, tenant, EVER), (TENANT, tenant, month), (RUN, run, EVER)):
        [row] = await tx.fetch("add_to_account", scope=scope, name=name, period=period, cents=cents)
        accounts[scope, period] = row["cents"]
    return accounts


async def _short(tx: Tx, job: Job, month: str, accounts: dict[tuple[str, str], float]) -> Limit | None:
    for scope, name in ((TENANT, job.tenant), (RUN, job.root_id)):
        for row in await tx.fetch("spend_limit", scope=scope, name=name):
            spent = accounts[scope, month if row["period"] == MONTH else EVER]
            if spent > row["cents"] + 1e-9:
                return Limit(scope, name, row["cents"], row["period"], spent)
    return None


async def _correct(tx: Tx, row: Row, cents: float) -> None:
    await _add(tx, row["tenant"], str(row["run"]), row["month"], cents - row["cents"])
    await _put(tx, str(row["job_id"]), row["name"], row["tenant"], str(row["run"]), row["month"], cents, settled=True)


async def _put(tx: Tx, *key: Any, settled: bool) -> None:
    names: Sequence[str] = ("job_id", "name", "tenant", "run", "month", "cents")
    await tx.execute("put_expense", **dict(zip(names, key, strict=True)), settled=settled, now=tx.now)
