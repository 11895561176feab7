"""Statistics of a window: what happened, how long it took, how often it failed, what it cost, how busy the workers are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from towpath.core.errors import ConfigurationError
from towpath.core.usage import Price
from towpath.engine.occupancy import ALIVE
from towpath.engine.prices import get_prices
from towpath.engine.rollups import roll_up
from towpath.engine.statistics import rollups, sampling, spending
from towpath.engine.statistics.figures import Budget, Course, Flow, OfOperation, Point, Statistics, Workers
from towpath.engine.statistics.windows import WINDOWS, Span
from towpath.store.contract import Store, Tx

_MOST_COMPACTIONS = 50


async def statistics(
    store: Store, window: str = "24h", *, operation: str | None = None, queue: str | None = None, tenant: str | None = None
) -> Statistics:
    """Of all tenants from the rollups, which are exact; of one tenant from its newest jobs."""
    if window not in WINDOWS:
        raise ConfigurationError(f"there is no window {window!r}; the windows are {', '.join(WINDOWS)}")
    # Workers do this every second. While none runs, a server still wants to show what was enqueued.
    for _ in range(_MOST_COMPACTIONS):
        if not await roll_up(store):
            break

    async def unit(tx: Tx) -> Statistics:
        span = WINDOWS[window].span(tx.now)
        if tenant is None:
            found = await rollups.course(tx, span, operation, queue)
        else:
            found = await sampling.course(tx, span, tenant, operation, queue)
        await spending.add_usage(tx, found, span, tenant, operation, queue)
        prices = await get_prices(tx)
        cost, more = await spending.bill(tx, span, prices, tenant, operation, queue)
        return Statistics(
            window, int(span.window.width.total_seconds()), found.sampled, _series(found, span, prices),
            _point(span, found.slots.values(), prices),
            _point(span.before, [*found.before.values(), found.used_before], prices),
            _operations(found), cost, more, await _workers(tx, span), await _budgets(tx),
        )  # fmt: skip

    return await store.read(unit)


def _series(found: Course, span: Span, prices: Mapping[str, Price]) -> list[Point]:
    flows = ((number, found.slots.get(number, Flow())) for number in span.slots)
    return [Point(span.moment(number), flow, flow.cost(prices)) for number, flow in flows]


def _point(span: Span, flows: Iterable[Flow], prices: Mapping[str, Price]) -> Point:
    whole = Flow()
    for flow in flows:
        whole.add(flow)
    return Point(span.since, whole, whole.cost(prices))


def _operations(found: Course) -> list[OfOperation]:
    """Those that failed most come first: they are what one looks for."""
    lines = []
    for name, flow in found.operations.items():
        then, now = found.before.get(name, Flow()).failure_rate, flow.failure_rate
        lines.append(OfOperation(name, flow, None if then is None or now is None else now - then))
    return sorted(lines, key=lambda line: (-line.flow.failed, -line.flow.ended, line.operation))


async def _workers(tx: Tx, span: Span) -> Workers:
    live = await tx.fetch("live_workers", since=tx.now - ALIVE)
    [busy] = await tx.fetch("busy_since", since=span.since)
    ratio = busy["running"] / busy["concurrency"] if busy["concurrency"] else None
    return Workers(len(live), sum(row["concurrency"] for row in live), sum(row["running"] for row in live), ratio)


async def _budgets(tx: Tx) -> list[Budget]:
    rows = await tx.fetch("blocked_budgets", now=tx.now)
    return [Budget(row["name"], row["blocked_until"], row["reason"]) for row in rows]
