"""What statistics consist of, and how they add up. Nothing here asks a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from towpath.core.count_deltas import COUNTS
from towpath.core.histogram import percentile
from towpath.core.usage import SUMS, Cost, Price, Usage, total
from towpath.store.contract import Row


@dataclass(slots=True)
class Flow:
    """What happened to jobs in some span of time."""

    created: int = 0
    started: int = 0
    succeeded: int = 0
    partial: int = 0
    failed: int = 0
    cancelled: int = 0
    retried: int = 0
    waits: Counter[int] = field(default_factory=Counter)
    runs: Counter[int] = field(default_factory=Counter)
    used: dict[str, Usage] = field(default_factory=dict)

    @property
    def ended(self) -> int:
        return self.succeeded + self.partial + self.failed + self.cancelled

    @property
    def failure_rate(self) -> float | None:
        """The share of the ended jobs that failed; None if none ended."""
        return self.failed / self.ended if self.ended else None

    @property
    def retry_rate(self) -> float | None:
        """Retries for each start; None if nothing was started."""
        return self.retried / self.started if self.started else None

    def wait_ms(self, share: float) -> float | None:
        return _ms(percentile(self.waits, share))

    def run_ms(self, share: float) -> float | None:
        return _ms(percentile(self.runs, share))

    def cost(self, prices: Mapping[str, Price]) -> Cost:
        return total(self.used.values(), prices)

    def add(self, other: Flow) -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.waits += other.waits
        self.runs += other.runs
        for used in other.used.values():
            self.use(used)

    def count(self, row: Row) -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + row[name])

    def took(self, what: str, bucket: int, jobs: int = 1) -> None:
        (self.waits if what == "wait" else self.runs)[bucket] += jobs

    def use(self, used: Usage) -> None:
        self.used.setdefault(used.model, Usage(used.model)).add(used)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def usage_of(row: Row) -> Usage:
    return Usage(row["model"], **{name: row[name] for name in SUMS})


@dataclass(slots=True)
class FlowTable:
    """Flows by slot and by operation; `before` is the span before it, for comparison."""

    slots: dict[int, Flow] = field(default_factory=dict)
    operations: dict[str, Flow] = field(default_factory=dict)
    before: dict[str, Flow] = field(default_factory=dict)
    used_before: Flow = field(default_factory=Flow)
    sampled: bool = False

    def slot(self, number: int) -> Flow:
        return self.slots.setdefault(number, Flow())

    def operation(self, name: str) -> Flow:
        return self.operations.setdefault(name, Flow())

    def operation_before(self, name: str) -> Flow:
        return self.before.setdefault(name, Flow())


@dataclass(frozen=True, slots=True)
class Point:
    at: datetime
    flow: Flow
    cost: Cost


@dataclass(frozen=True, slots=True)
class OfOperation:
    operation: str
    flow: Flow
    trend: float | None
    """How much the failure rate has risen since the window before; None if either is unknown."""


@dataclass(frozen=True, slots=True)
class CostLine:
    tenant: str
    model: str | None
    tokens_in: int
    tokens_out: int
    cost: Cost


@dataclass(frozen=True, slots=True)
class Workers:
    """`busy_ratio` is an average over the window, from heartbeats; None if there was none."""

    alive: int
    concurrency: int
    running: int
    busy_ratio: float | None


@dataclass(frozen=True, slots=True)
class Budget:
    name: str
    blocked_until: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class Statistics:
    window: str
    bucket_seconds: int
    sampled: bool
    """Whether there were too many jobs to look at all of them: then the newest ones stand for all."""
    series: list[Point]
    totals: Point
    before: Point
    operations: list[OfOperation]
    cost: list[CostLine]
    cost_is_more: bool
    workers: Workers
    budgets: list[Budget]
