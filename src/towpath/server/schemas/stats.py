"""Statistics."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from towpath.engine.asking.statistics.figures import Flow, Statistics
from towpath.engine.asking.statistics.figures import OfOperation as EngineOfOperation
from towpath.engine.asking.statistics.figures import Point as EnginePoint
from towpath.server.schemas.base import Answer, Moment

Ms = Annotated[float | None, Field(description="Milliseconds, within nine per cent; null if there is nothing to measure.")]
Rate = Annotated[float | None, Field(description="0 to 1; null if there is nothing to divide by.")]


class WindowName(StrEnum):
    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"


class Latency(Answer):
    wait_p50_ms: Ms
    wait_p95_ms: Ms
    wait_p99_ms: Ms
    run_p50_ms: Ms
    run_p95_ms: Ms
    run_p99_ms: Ms


class Flows(Latency):
    """What happened in some span of time."""

    created: int
    started: int
    succeeded: int
    partial: int
    failed: int
    cancelled: int
    retried: int
    cost_cents: Annotated[float | None, Field(description="The sum of what is known; null if nothing is. Never a guess.")]
    unpriced: Annotated[bool, Field(description="Whether something was used whose price nobody knows.")]


class Point(Flows):
    at: Annotated[Moment, Field(description="When its span begins.")]


class Totals(Flows):
    ended: int
    failure_rate: Rate
    retry_rate: Rate


class OfOperation(Latency):
    operation: str
    started: int
    ended: int
    failed: int
    retried: int
    failure_rate: Rate
    retry_rate: Rate
    trend: Annotated[
        float | None, Field(description="By how much its failure rate has risen since the window before; null if unknown.")
    ]


class CostLine(Answer):
    tenant: str
    model: Annotated[str | None, Field(description="null if whoever metered it did not say.")]
    tokens_in: int
    tokens_out: int
    cost_cents: float | None
    unpriced: bool


class WorkersNow(Answer):
    alive: int
    concurrency: int
    running: int
    busy_ratio: Annotated[float | None, Field(description="Slots in use, on average over the window, by heartbeats.")]


class BlockedBudget(Answer):
    name: str
    blocked_until: Moment
    reason: Annotated[str | None, Field(description="What the other side said; for admins.")]


class Stats(Answer):
    window: WindowName
    bucket_seconds: Annotated[int, Field(description="What one point of the series stands for.")]
    sampled: Annotated[
        bool, Field(description="One tenant's jobs were too many to look at all: the newest 10,000 made in the window.")
    ]
    series: list[Point]
    totals: Totals
    before: Annotated[Totals, Field(description="The same of the window before this one.")]
    operations: list[OfOperation]
    cost: Annotated[list[CostLine], Field(description="The dearest first, at most 200.")]
    cost_is_more: bool
    workers: WorkersNow
    budgets: list[BlockedBudget]


def shown(found: Statistics, *, reasons: bool) -> Stats:
    return Stats(
        window=WindowName(found.window),
        bucket_seconds=found.bucket_seconds,
        sampled=found.sampled,
        series=[Point(at=point.at, **_flows(point)) for point in found.series],
        totals=_totals(found.totals),
        before=_totals(found.before),
        operations=[_operation(line) for line in found.operations],
        cost=[
            CostLine(tenant=line.tenant, model=line.model, tokens_in=line.tokens_in, tokens_out=line.tokens_out,
                     cost_cents=line.cost.cents, unpriced=line.cost.unpriced)
            for line in found.cost
        ],
        cost_is_more=found.cost_is_more,
        workers=WorkersNow(
            alive=found.workers.alive, concurrency=found.workers.concurrency, running=found.workers.running,
            busy_ratio=found.workers.busy_ratio,
        ),
        budgets=[
            BlockedBudget(name=one.name, blocked_until=one.blocked_until, reason=one.reason if reasons else None)
            for one in found.budgets
        ],
    )  # fmt: skip


def _latency(flow: Flow) -> dict[str, float | None]:
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    waits = {f"wait_{name}_ms": flow.wait_ms(share) for name, share in shares.items()}
    return waits | {f"run_{name}_ms": flow.run_ms(share) for name, share in shares.items()}


def _flows(point: EnginePoint) -> dict[str, Any]:
    names = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried")
    counts: dict[str, Any] = {name: getattr(point.flow, name) for name in names}
    return counts | _latency(point.flow) | {"cost_cents": point.cost.cents, "unpriced": point.cost.unpriced}


def _totals(point: EnginePoint) -> Totals:
    flow = point.flow
    return Totals(ended=flow.ended, failure_rate=flow.failure_rate, retry_rate=flow.retry_rate, **_flows(point))


def _operation(line: EngineOfOperation) -> OfOperation:
    flow = line.flow
    return OfOperation(
        operation=line.operation, started=flow.started, ended=flow.ended, failed=flow.failed, retried=flow.retried,
        failure_rate=flow.failure_rate, retry_rate=flow.retry_rate, trend=line.trend, **_latency(flow),
    )  # fmt: skip
