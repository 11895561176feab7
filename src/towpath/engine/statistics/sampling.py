"""The course of one tenant's jobs. Rollups know no tenants, because each would cost a row more on the way of every job;
so the tenant's newest jobs are looked at themselves, a bounded number of them.

They are those that were *made* in the span: what was made before it and ended in it is not among them.
"""

from __future__ import annotations

from collections.abc import Callable

from towpath.core.histogram import bucket
from towpath.core.ids import first_at
from towpath.engine.statistics.figures import Course, Flow
from towpath.engine.statistics.windows import Span
from towpath.store.contract import Row, Tx

MOST_JOBS = 10_000


async def course(tx: Tx, span: Span, tenant: str, operation: str | None, queue: str | None) -> Course:
    found = Course()
    for row in await _jobs(tx, span, tenant, found):
        if operation in (None, row["operation"]) and queue in (None, row["queue"]):
            of_operation = found.operation(row["operation"])
            _place(row, span, lambda moment: found.slot(span.slot(moment)))
            _place(row, span, lambda _, flow=of_operation: flow)
    for row in await _jobs(tx, span.before, tenant, found):
        if operation in (None, row["operation"]) and queue in (None, row["queue"]):
            of_operation = found.operation_before(row["operation"])
            _place(row, span.before, lambda _, flow=of_operation: flow)
    return found


async def _jobs(tx: Tx, span: Span, tenant: str, found: Course) -> list[Row]:
    asked = {"first": first_at(span.since), "last": first_at(span.until)}
    rows = await tx.fetch("sampled_jobs", tenant=tenant, **asked, limit=MOST_JOBS + 1)
    found.sampled = found.sampled or len(rows) > MOST_JOBS
    return list(rows[:MOST_JOBS])


def _place(row: Row, within: Span, flow_at: Callable[..., Flow]) -> None:
    """Tells what happened to one job, each thing at its time, as far as that lies in the span."""
    created, started, finished = row["created_at"], row["started_at"], row["finished_at"]
    if within.since <= created < within.until:
        flow_at(created).created += 1
    if started is not None and within.since <= started < within.until:
        flow = flow_at(started)
        retried = row["failures"] + row["retry_laters"] - (1 if row["state"] == "failed" and row["failures"] else 0)
        flow.started += 1 + retried
        flow.retried += retried
        flow.took("wait", bucket((started - created).total_seconds()))
    if finished is not None and within.since <= finished < within.until:
        flow = flow_at(finished)
        setattr(flow, row["state"], getattr(flow, row["state"]) + 1)
        if started is not None:
            flow.took("run", bucket((finished - started).total_seconds()))
