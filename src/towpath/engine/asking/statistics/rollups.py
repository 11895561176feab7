"""The course of things over all tenants, from the rollups: no job is looked at."""

from __future__ import annotations

from towpath.engine.asking.statistics.figures import FlowTable
from towpath.engine.asking.statistics.windows import Span
from towpath.store.contract import Tx


async def flow_table(tx: Tx, span: Span, operation: str | None, queue: str | None) -> FlowTable:
    found = FlowTable()
    filters = {"operation": operation, "queue": queue}
    asked = {"since": span.since, "until": span.until} | filters
    width, durations = span.window.width.total_seconds(), "minute" if span.window.by_minutes else "quarter"
    for row in await tx.fetch("flows_in_slots", width=width, **asked):
        found.slot(row["slot"]).count(row)
        found.operation(row["operation"]).count(row)
    for row in await tx.fetch(f"{durations}_durations_in_slots", width=width, **asked):
        found.slot(row["slot"]).took(row["what"], row["bucket"], row["jobs"])
    for row in await tx.fetch(f"{durations}_durations_by_operation", **asked):
        found.operation(row["operation"]).took(row["what"], row["bucket"], row["jobs"])
    asked |= {"since": span.before.since, "until": span.before.until}
    for row in await tx.fetch("flows_before", **asked):
        found.operation_before(row["operation"]).count(row)
    for row in await tx.fetch(f"{durations}_durations_by_operation", **asked):
        found.operation_before(row["operation"]).took(row["what"], row["bucket"], row["jobs"])
    return found
