"""What the engine and this process have to tell, as Prometheus families.

Counts of jobs come from the database, where they have been kept since the first job: every server process tells the same,
and a restart resets nothing. Requests and streams are this process's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from towpath.core.errors import StoreUnavailable
from towpath.core.histogram import PER_DOUBLING, edge
from towpath.engine.asking.liveness import live_workers
from towpath.engine.tending.rollups import roll_up
from towpath.server.observing import Requests
from towpath.store.contract import Row, Store, Tx
from towpath.version import __version__

_EDGES = [power * PER_DOUBLING for power in range(25)]
"""Every fourth of our own edges: each is twice the one before, from a millisecond to four hours and a half."""
_ENDINGS = ("succeeded", "partial", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the database told at one moment."""

    depths: Sequence[Row]
    settings: Sequence[Row]
    lifetimes: Sequence[Row]
    histograms: Mapping[tuple[str, str, str], Counter[int]]
    workers: Sequence[Row]
    blocked: Mapping[str, float]


async def look(store: Store) -> Snapshot | None:
    """None if the database cannot be asked: then that is what there is to tell."""
    try:
        await roll_up(store)
        return await store.read(_read)
    except StoreUnavailable:
        return None


async def _read(tx: Tx) -> Snapshot:
    histograms: dict[tuple[str, str, str], Counter[int]] = {}
    for row in await tx.fetch("lifetime_histograms"):
        histograms.setdefault((row["what"], row["queue"], row["operation"]), Counter())[row["bucket"]] = row["jobs"]
    budgets = await tx.fetch("blocked_budgets", now=tx.now)
    return Snapshot(
        await tx.fetch("depths"), await tx.fetch("queue_settings"), await tx.fetch("lifetimes"), histograms,
        await live_workers(tx),
        {row["name"]: (row["blocked_until"] - tx.now).total_seconds() for row in budgets},
    )  # fmt: skip


def exposition(snapshot: Snapshot | None, requests: Requests, streams: int) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Collected([*_database(snapshot), *_process(requests, streams)]))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Collected(Collector):
    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _gauge(name: str, text: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]) -> Metric:
    family = GaugeMetricFamily(f"towpath_{name}", text, labels=labels)
    for key, value in values:
        family.add_metric(key, value)
    return family


def _counter(name: str, text: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]) -> Metric:
    family = CounterMetricFamily(f"towpath_{name}", text, labels=labels)
    for key, value in values:
        family.add_metric(key, value)
    return family


def _histogram(name: str, text: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], Any, float]]) -> Metric:
    family = HistogramMetricFamily(f"towpath_{name}", text, labels=labels)
    for key, counts, total in values:
        family.add_metric(key, _cumulated(counts), total)
    return family


def _cumulated(counts: Counter[int]) -> list[tuple[str, float]]:
    """Exact, because every edge told is one of ours."""
    told = [(f"{edge(top):g}", float(sum(jobs for number, jobs in counts.items() if number <= top))) for top in _EDGES]
    return [*told, ("+Inf", float(sum(counts.values())))]


def _database(snapshot: Snapshot | None) -> Iterator[Metric]:
    yield _gauge("database_up", "Whether the database answered.", [], [([], 0.0 if snapshot is None else 1.0)])
    if snapshot is None:
        return
    states = ("queued", "running", "waiting")
    depths = [([row["queue"], state], max(0, row[state])) for row in snapshot.depths for state in states]
    yield _gauge("queue_jobs", "Jobs that have not ended.", ["queue", "state"], depths)
    paused = [([row["name"]], float(row["paused"])) for row in snapshot.settings]
    yield _gauge("queue_paused", "Whether nothing is started from it.", ["queue"], paused)
    yield from _flows(snapshot)
    yield from _durations(snapshot)
    yield _gauge("workers", "Workers that are alive.", [], [([], len(snapshot.workers))])
    slots, busy = (sum(row[name] for row in snapshot.workers) for name in ("concurrency", "running"))
    yield _gauge("worker_slots", "Slots of workers that are alive.", [], [([], slots)])
    yield _gauge("worker_slots_busy", "Slots in use, as the last heartbeats said.", [], [([], busy)])
    blocked = [([name], seconds) for name, seconds in snapshot.blocked.items()]
    yield _gauge("budget_blocked_seconds", "For how much longer a rate budget is blocked.", ["budget"], blocked)


def _flows(snapshot: Snapshot) -> Iterator[Metric]:
    labels, rows = ["queue", "operation"], snapshot.lifetimes
    for name, text in (("created", "Jobs enqueued."), ("started", "Entries begun."), ("retried", "Entries to be repeated.")):
        yield _counter(f"jobs_{name}", text, labels, [([row["queue"], row["operation"]], row[name]) for row in rows])
    ended = [([row["queue"], row["operation"], state], row[state]) for row in rows for state in _ENDINGS]
    yield _counter("jobs_ended", "Jobs ended.", [*labels, "state"], ended)


def _durations(snapshot: Snapshot) -> Iterator[Metric]:
    sums = {(row["queue"], row["operation"]): row for row in snapshot.lifetimes}
    for what, text in (("wait", "From being enqueued to the first start."), ("run", "From the first start to the end.")):
        values = [
            ([queue, operation], counts, float(sums[queue, operation][f"{what}_seconds"]))
            for (kind, queue, operation), counts in snapshot.histograms.items()
            if kind == what and (queue, operation) in sums
        ]
        yield _histogram(f"job_{what}_seconds", text, ["queue", "operation"], values)


def _process(requests: Requests, streams: int) -> Iterator[Metric]:
    yield _gauge("build_info", "The release that runs.", ["version"], [([__version__], 1.0)])
    yield _gauge("streams", "Push streams open in this process.", [], [([], streams)])
    answered = [([method, route, str(status)], count) for (method, route, status), count in requests.answered.items()]
    yield _counter("http_requests", "Requests answered by this process.", ["method", "route", "status"], answered)
    timed = [([*key], counts, requests.seconds[key]) for key, counts in requests.durations.items()]
    yield _histogram("http_request_seconds", "Until the answer began.", ["method", "route"], timed)
