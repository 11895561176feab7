"""Compacts the deltas that transactions have written: counts and histograms per minute, depths per queue, use of models.

Any number of processes may do this at once: each row is taken by exactly one of them. What comes late, because
no worker ran for days, goes straight to its hour: minutes that old have been folded already, see `folding.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from towpath.core import histogram
from towpath.core.count_deltas import FLOWS, LEVELS
from towpath.core.encoding import decode, encode
from towpath.core.usage import SUMS
from towpath.store.contract import Row, Store, Tx

KEEP_MINUTES = timedelta(hours=48)
KEEP_FINE = timedelta(hours=3)
"""For what is kept by the minute only because the last hour is shown so."""
_MOST_COMPACTIONS = 50


async def roll_up(store: Store) -> int:
    """Answers how much there was to compact."""
    done = 0
    if await store.read(lambda tx: tx.fetch("any_count_delta")):
        done += await store.run(_compact)
    if await store.read(lambda tx: tx.fetch("any_usage_delta")):
        done += await store.run(_compact_usage)
    return done


async def catch_up(store: Store) -> None:
    """Workers do this every second. While none runs, a server still wants to show what was enqueued."""
    for _ in range(_MOST_COMPACTIONS):
        if not await roll_up(store):
            break


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def slot_of(minute: datetime, now: datetime, *, of: int = 1) -> datetime:
    """The minute itself, or the group of minutes that it belongs to; its hour if it is that long ago."""
    if minute < hour_of(now - KEEP_MINUTES):
        return hour_of(minute)
    return minute.replace(minute=minute.minute // of * of)


async def _compact(tx: Tx) -> int:
    rows = await tx.fetch("take_count_deltas")
    if tx.dialect == "sqlite":
        await tx.execute("clear_count_deltas")
    await _add_flows(tx, rows)
    await _add_durations(tx, rows)
    for queue, depth in sorted(_summed(rows, ("queue",), LEVELS).items()):
        await tx.execute("add_depth", queue=queue[0], **depth)
    return len(rows)


async def _add_flows(tx: Tx, rows: Sequence[Row]) -> None:
    flowing = [dict(row) | {"minute": slot_of(row["minute"], tx.now)} for row in rows if any(row[name] for name in FLOWS)]
    await add(tx, "add_rollups", ("queue", "operation", "minute"), _summed(flowing, ("queue", "operation", "minute"), FLOWS))
    await add(tx, "add_lifetimes", ("queue", "operation"), _summed(flowing, ("queue", "operation"), FLOWS))


async def _add_durations(tx: Tx, rows: Sequence[Row]) -> None:
    minutes: Counter[tuple[Any, ...]] = Counter()
    quarters: Counter[tuple[Any, ...]] = Counter()
    lifetime: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        whose, quarter = (row["queue"], row["operation"]), slot_of(row["minute"], tx.now, of=15)
        for what, spent in (("wait", row["waits"]), ("run", row["runs"])):
            for bucket, jobs in _by_bucket(spent).items():
                quarters[*whose, quarter, what, bucket] += jobs
                lifetime[*whose, what, bucket] += jobs
                if row["minute"] >= tx.now - KEEP_FINE:
                    minutes[*whose, row["minute"], what, bucket] += jobs
    await add_histograms(tx, quarters)
    await _add_jobs(tx, "add_histogram_minutes", ("queue", "operation", "minute", "what", "bucket"), minutes)
    await _add_jobs(tx, "add_lifetime_histograms", ("queue", "operation", "what", "bucket"), lifetime)


async def add_histograms(tx: Tx, counts: Counter[tuple[Any, ...]]) -> None:
    await _add_jobs(tx, "add_histograms", ("queue", "operation", "quarter", "what", "bucket"), counts)


async def _add_jobs(tx: Tx, query: str, columns: tuple[str, ...], counts: Counter[tuple[Any, ...]]) -> None:
    await add(tx, query, columns, {key: {"jobs": jobs} for key, jobs in counts.items()})


def _by_bucket(spent: str | None) -> dict[int, int]:
    """PostgreSQL has counted the durations already, SQLite just lists them."""
    found: dict[str, int] | list[float] = decode(spent) or []
    if isinstance(found, dict):
        return {int(bucket): jobs for bucket, jobs in found.items()}
    return histogram.count(found)


def _summed(
    rows: Iterable[Row], keys: tuple[str, ...], names: Iterable[str]
) -> dict[tuple[Any, ...], dict[str, int | float]]:
    names = tuple(names)
    sums: dict[tuple[Any, ...], dict[str, int | float]] = {}
    for row in rows:
        into = sums.setdefault(tuple(row[key] for key in keys), dict.fromkeys(names, 0))
        for name in names:
            into[name] += row[name]
    return sums


async def add(tx: Tx, query: str, keys: tuple[str, ...], sums: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    """Adds sums to a table in one statement, in the order of their keys: two who do it at once wait, and no more."""
    if sums:
        rows = [dict(zip(keys, map(_plain, key), strict=True)) | values for key, values in sorted(sums.items())]
        await tx.execute(query, rows=encode(rows))


def _plain(value: Any) -> Any:
    return value.timestamp() if isinstance(value, datetime) else value


async def _compact_usage(tx: Tx) -> int:
    rows = await tx.fetch("take_usage_deltas")
    used = [dict(row) | {"quarter": slot_of(row["minute"], tx.now, of=15)} for row in rows]
    whose = ("tenant", "queue", "operation", "model")
    await add(tx, "add_usages", ("quarter", *whose), _summed(used, ("quarter", *whose), SUMS))
    recent = [row for row in used if row["minute"] >= tx.now - KEEP_FINE]
    await add(tx, "add_spends", ("minute", *whose), _summed(recent, ("minute", *whose), SUMS))
    return len(rows)
