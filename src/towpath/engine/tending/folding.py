"""Keeps the counts small: minutes and quarters become hours after two days, and hours go after four hundred.

Hour by hour, in order, and `upkeep` remembers how far; whoever holds its row does it, everybody else goes on.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from towpath.core.count_deltas import FLOWS
from towpath.core.usage import SUMS
from towpath.engine.tending.rollups import KEEP_FINE, KEEP_MINUTES, add, add_histograms, hour_of
from towpath.store.contract import Store, Tx

KEEP_HOURS = timedelta(days=400)
HOUR = timedelta(hours=1)
# Compaction may still be writing minutes that were just about to become too old; these hours it no longer touches.
_AFTER = KEEP_MINUTES + 2 * HOUR
_MOST_AT_ONCE = 24
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


async def fold(store: Store) -> int:
    """Folds and prunes what is old enough; answers how many hours it folded."""
    if not await store.read(_behind):
        return 0
    await store.run(_forget)
    total = 0
    while folded := await store.run(_fold_some):
        total += folded
    return total


async def _behind(tx: Tx) -> bool:
    rows = await tx.fetch("upkeep_until", name="rollups")
    until = rows[0]["until"] if rows else None
    return until is None or until < hour_of(tx.now - _AFTER)


async def _fold_some(tx: Tx) -> int:
    rows = await tx.fetch("lock_upkeep", name="rollups")
    goal = hour_of(tx.now - _AFTER)
    if not rows or (rows[0]["until"] or _LONG_AGO) >= goal:
        return 0  # somebody else is at it, or has done it
    hour, folded = rows[0]["until"] or _LONG_AGO, 0
    while folded < _MOST_AT_ONCE:
        found = (await tx.fetch("next_minute", hour=hour))[0]["minute"]
        hour = goal if found is None else min(goal, hour_of(found))
        if hour == goal:
            break
        await _fold_hour(tx, hour)
        hour, folded = hour + HOUR, folded + 1
    await tx.execute("upkeep_done", name="rollups", until=hour)
    return folded


async def _fold_hour(tx: Tx, hour: datetime) -> None:
    """The row of the hour itself may be there already: it is also its first minute, and what came late is in it."""
    span = {"hour": hour, "until": hour + HOUR}
    await _fold_flows(tx, hour, span)
    await _fold_durations(tx, hour, span)
    await _fold_usage(tx, hour, span)
    samples = await tx.fetch("occupancy_hour", **span)
    await tx.execute("drop_occupancy_minutes", **span)
    for row in samples:
        await tx.execute("add_occupancy", minute=hour, **dict(row))


async def _fold_flows(tx: Tx, hour: datetime, span: dict[str, datetime]) -> None:
    rows = await tx.fetch("rollup_hour", **span)
    sums = {(row["queue"], row["operation"], hour): {name: row[name] for name in FLOWS} for row in rows}
    await tx.execute("drop_rollup_minutes", **span)
    await add(tx, "add_rollups", ("queue", "operation", "minute"), sums)


async def _fold_durations(tx: Tx, hour: datetime, span: dict[str, datetime]) -> None:
    rows = await tx.fetch("histogram_hour", **span)
    jobs = Counter({(row["queue"], row["operation"], hour, row["what"], row["bucket"]): row["jobs"] for row in rows})
    await tx.execute("drop_histogram_quarters", **span)
    await add_histograms(tx, jobs)


async def _fold_usage(tx: Tx, hour: datetime, span: dict[str, datetime]) -> None:
    keys = ("tenant", "queue", "operation", "model")
    rows = await tx.fetch("usage_hour", **span)
    sums = {(hour, *(row[key] for key in keys)): {name: row[name] for name in SUMS} for row in rows}
    await tx.execute("drop_usage_quarters", **span)
    await add(tx, "add_usages", ("quarter", *keys), sums)


async def _forget(tx: Tx) -> None:
    before = tx.now - KEEP_HOURS
    for query in ("forget_rollups", "forget_histograms", "forget_occupancy", "forget_usage"):
        await tx.execute(query, before=before)
    for query in ("forget_spend", "forget_histogram_minutes"):
        await tx.execute(query, before=tx.now - KEEP_FINE)
