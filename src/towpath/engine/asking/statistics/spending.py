"""What models were used for: by slot for charts, by tenant and model for the bill."""

from __future__ import annotations

from collections.abc import Mapping

from towpath.core.usage import Price, cost
from towpath.engine.asking.statistics.figures import CostLine, FlowTable, usage_of
from towpath.engine.asking.statistics.windows import Span
from towpath.store.contract import Tx

MOST_LINES = 200


def _source(span: Span) -> str:
    return "spend" if span.window.by_minutes else "usage"


async def add_usage(
    tx: Tx, found: FlowTable, span: Span, tenant: str | None, operation: str | None, queue: str | None
) -> None:
    filters = {"tenant": tenant, "operation": operation, "queue": queue}
    width = span.window.width.total_seconds()
    query = f"{_source(span)}_in_slots"
    for row in await tx.fetch(query, since=span.since, until=span.until, width=width, **filters):
        found.slot(row["slot"]).use(usage_of(row))
    before = span.before
    for row in await tx.fetch(query, since=before.since, until=before.until, width=width, **filters):
        found.used_before.use(usage_of(row))


async def bill(
    tx: Tx, span: Span, prices: Mapping[str, Price], tenant: str | None, operation: str | None, queue: str | None
) -> tuple[list[CostLine], bool]:
    """A line for each tenant and model, the dearest first; and whether there are more than are told."""
    filters = {"tenant": tenant, "operation": operation, "queue": queue}
    rows = await tx.fetch(f"{_source(span)}_by_tenant", since=span.since, until=span.until, **filters)
    lines = [
        CostLine(row["tenant"], row["model"] or None, row["tokens_in"], row["tokens_out"],
                 cost(usage_of(row), prices.get(row["model"])))
        for row in rows
    ]  # fmt: skip
    lines.sort(
        key=lambda line: (-(line.cost.cents or 0.0), -line.tokens_in - line.tokens_out, line.tenant, line.model or "")
    )
    return lines[:MOST_LINES], len(lines) > MOST_LINES
