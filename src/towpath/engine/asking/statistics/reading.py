"""Statistics of a window: what happened, how long it took, how often it failed, what it cost, how busy the workers are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from towpath.core.errors import ConfigurationError
from towpath.core.usage import Price
from towpath.engine.asking.liveness import live_workers
from towpath.engine.asking.prices import get_prices
from towpath.engine.asking.statistics import rollups, sampling, spending
from towpath.engine.asking.statistics.figures import (
    Budget,
    CostLine,
    Flow,
    FlowTable,
    OfOperation,
    Point,
    Statistics,
    Workers,
)
from towpath.engine.asking.statistics.sampling import Sample
from towpath.engine.asking.statistics.windows import WINDOWS, Span
from towpath.store.contract import Store, Tx


async def statistics(
    store: Store, window: str = "24h", *, operation: str | None = None, queue: str | None = None, tenant: str | None = None
) -> Statistics:
    """Of all tenants from the rollups, which are exact as far as they have come; of one tenant from its newest jobs."""
    if window not in WINDOWS:
        raise ConfigurationError(f"there is no window {window!r}; the windows are {', '.join(WINDOWS)}")

    async def unit(tx: Tx) -> _Read:
        span = WINDOWS[window].span(tx.now)
        found = FlowTable() if tenant is not None else await rollups.flow_table(tx, span, operation, queue)
        sample = None if tenant is None else await sampling.take(tx, span, tenant, operation, queue)
        await spending.add_usage(tx, found, span, tenant, operation, queue)
        prices = await get_prices(tx)
        cost, more = await spending.bill(tx, span, prices, tenant, operation, queue)
        return _Read(span, found, sample, prices, cost, more, await _workers(tx, span), await _budgets(tx))

    read = await store.read(unit)
    if read.sample is not None:
        await asyncio.to_thread(sampling.place, read.found, read.sample)
    return _assembled(read)


@dataclass(frozen=True, slots=True)
class _Read:
    """What the database told, at one moment."""

    span: Span
    found: FlowTable
    sample: Sample | None
    prices: Mapping[str, Price]
    cost: list[CostLine]
    cost_is_more: bool
    workers: Workers
    budgets: list[Budget]


def _assembled(read: _Read) -> Statistics:
    span, found, prices = read.span, read.found, read.prices
    return Statistics(
        span.window.name, int(span.window.width.total_seconds()), found.sampled, _series(found, span, prices),
        _point(span, found.slots.values(), prices),
        _point(span.before, [*found.before.values(), found.used_before], prices),
        _operations(found), read.cost, read.cost_is_more, read.workers, read.budgets,
    )  # fmt: skip


def _series(found: FlowTable, span: Span, prices: Mapping[str, Price]) -> list[Point]:
    flows = ((number, found.slots.get(number, Flow())) for number in span.slots)
    return [Point(span.moment(number), flow, flow.cost(prices)) for number, flow in flows]


def _point(span: Span, flows: Iterable[Flow], prices: Mapping[str, Price]) -> Point:
    whole = Flow()
    for flow in flows:
        whole.add(flow)
    return Point(span.since, whole, whole.cost(prices))


def _operations(found: FlowTable) -> list[OfOperation]:
    """Those that failed most come first: they are what one looks for."""
    lines = []
    for name, flow in found.operations.items():
        then, now = found.before.get(name, Flow()).failure_rate, flow.failure_rate
        lines.append(OfOperation(name, flow, None if then is None or now is None else now - then))
    return sorted(lines, key=lambda line: (-line.flow.failed, -line.flow.ended, line.operation))


async def _workers(tx: Tx, span: Span) -> Workers:
    live = await live_workers(tx)
    [busy] = await tx.fetch("busy_since", since=span.since)
    ratio = busy["running"] / busy["concurrency"] if busy["concurrency"] else None
    return Workers(len(live), sum(row["concurrency"] for row in live), sum(row["running"] for row in live), ratio)


async def _budgets(tx: Tx) -> list[Budget]:
    rows = await tx.fetch("blocked_budgets", now=tx.now)
    return [Budget(row["name"], row["blocked_until"], row["reason"]) for row in rows]
