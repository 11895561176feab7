"""How the fleet does: trends, causes of failure, retries and what each worker came to. Told from attempts, newest first, of
which only so many are looked at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from towpath import App, Row, moment
from towpath.fleet import verdicts

WINDOWS = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
MOST = 50_000
_BAD = frozenset({verdicts.FAILED, verdicts.LOST, verdicts.REFUSED})
_MOST_CAUSES = 20
_DAY, _HOUR = 86_400, 3600


@dataclass(slots=True)
class Bucket:
    at: datetime
    completed: int = 0
    failed: int = 0
    lost: int = 0


@dataclass(slots=True)
class Efficiency:
    completed: int = 0
    failed: int = 0
    seconds: float = 0.0
    finished: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    window: str
    attempts: int
    completed: int
    failed: int
    retried: int
    more: bool
    waits: list[float]
    runs: list[float]
    trend: list[Bucket]
    causes: list[tuple[str, str, int]]
    workers: dict[str, Efficiency]

    @property
    def failure_rate(self) -> float:
        return rate(self.completed, self.failed)


def rate(completed: int, failed: int) -> float:
    ended = completed + failed
    return round(failed / ended, 4) if ended else 0.0


async def report(app: App, window: str, tenant: str | None) -> Report:
    now = await app.now()
    rows = await app.query("fleet_attempts", since=now - WINDOWS[window], tenant=tenant, limit=MOST + 1)
    return summed(rows[:MOST], window, now, more=len(rows) > MOST)


def summed(rows: Sequence[Row], window: str, now: datetime, *, more: bool = False) -> Report:
    outcomes = Counter(row["outcome"] for row in rows)
    causes = Counter((row["kind"] or "operation", row["reason"] or "") for row in rows if row["outcome"] in _BAD)
    waits = [_between(row, "sent_at", "claimed_at") for row in rows]
    runs = [_between(row, "claimed_at", "reported_at") for row in rows if row["outcome"] == verdicts.COMPLETED]
    return Report(
        window, len(rows), outcomes[verdicts.COMPLETED], sum(outcomes[one] for one in _BAD),
        len({row["task_id"] for row in rows if row["attempt"] > 1}), more,
        sorted(one for one in waits if one is not None), sorted(one for one in runs if one is not None),
        _trend(rows, window, now), [(*cause, count) for cause, count in causes.most_common(_MOST_CAUSES)], _workers(rows),
    )  # fmt: skip


def _trend(rows: Sequence[Row], window: str, now: datetime) -> list[Bucket]:
    """Every hour or day of the window, also those in which nothing was done."""
    step = _HOUR if window in ("1h", "24h") else _DAY
    first, last = (int((now - WINDOWS[window]).timestamp()) // step, int(now.timestamp()) // step)
    found = {at: Bucket(datetime.fromtimestamp(at * step, now.tzinfo)) for at in range(first, last + 1)}
    for row in rows:
        bucket = found.get(int(moment(row["made_at"]).timestamp()) // step)
        if bucket is None or row["outcome"] is None:
            continue
        bucket.completed += row["outcome"] == verdicts.COMPLETED
        bucket.failed += row["outcome"] in (verdicts.FAILED, verdicts.REFUSED)
        bucket.lost += row["outcome"] == verdicts.LOST
    return list(found.values())


def _workers(rows: Sequence[Row]) -> dict[str, Efficiency]:
    found: dict[str, Efficiency] = defaultdict(Efficiency)
    for row in rows:
        if row["worker_id"] is None:
            continue
        one, took = found[row["worker_id"]], _between(row, "claimed_at", "reported_at")
        one.completed += row["outcome"] == verdicts.COMPLETED
        one.failed += row["outcome"] in _BAD
        if took is not None:
            one.seconds += took
            if row["outcome"] == verdicts.COMPLETED:
                one.finished.append(took)
    return dict(sorted(found.items(), key=lambda item: (-item[1].completed, item[0])))


def _between(row: Row, first: str, last: str) -> float | None:
    begin, end = moment(row[first]), moment(row[last])
    return None if begin is None or end is None else max(0.0, (end - begin).total_seconds())


def quantile(values: Sequence[float], share: float) -> float | None:
    """Of sorted values, the one below which this share of them lies."""
    return round(values[min(len(values) - 1, int(share * len(values)))], 3) if values else None


async def sums_of_workers(app: App, now: datetime) -> Mapping[str, Mapping[str, float]]:
    """Of the last day, by worker: what was completed, what failed, the seconds of both, and how many it has now."""
    since = now - timedelta(days=1)
    found: dict[str, dict[str, float]] = defaultdict(lambda: {"completed": 0.0, "failed": 0.0, "seconds": 0.0})
    for row in await app.query("fleet_worker_sums", since=since):
        if row["outcome"] == verdicts.COMPLETED:
            found[row["worker_id"]]["completed"] += row["attempts"]
        elif row["outcome"] in _BAD:
            found[row["worker_id"]]["failed"] += row["attempts"]
    for row in await app.query("fleet_worker_times", since=since, limit=MOST):
        found[row["worker_id"]]["seconds"] += _between(row, "claimed_at", "ended_at") or 0.0
    for row in await app.query("fleet_workers_busy"):
        found[row["worker_id"]]["busy"] = float(row["busy"])
    return found
