"""The course of one tenant's jobs. Rollups know no tenants, because each would cost a row more on the way of every job;
so the tenant's newest jobs are looked at themselves, a bounded number of them.

They are those that were *made* in the span: what was made before it and ended in it is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from towpath.core.histogram import bucket
from towpath.core.ids import first_at
from towpath.engine.asking.statistics.figures import Flow, FlowTable
from towpath.engine.asking.statistics.windows import Span
from towpath.store.contract import Row, Tx

MOST_JOBS = 10_000


@dataclass(frozen=True, slots=True)
class Sample:
    """Jobs of a span and of the one before it; `complete`: there are no others."""

    span: Span
    jobs: Sequence[Row]
    jobs_before: Sequence[Row]
    complete: bool


async def take(tx: Tx, span: Span, tenant: str, operation: str | None, queue: str | None) -> Sample:
    found = [await _jobs(tx, each, tenant) for each in (span, span.before)]
    kept = [
        [row for row in rows[:MOST_JOBS] if operation in (None, row["operation"]) and queue in (None, row["queue"])]
        for rows in found
    ]
    return Sample(span, kept[0], kept[1], complete=all(len(rows) <= MOST_JOBS for rows in found))


async def _jobs(tx: Tx, span: Span, tenant: str) -> Sequence[Row]:
    asked = {"first": first_at(span.since), "last": first_at(span.until)}
    return await tx.fetch("sampled_jobs", tenant=tenant, **asked, limit=MOST_JOBS + 1)


def place(found: FlowTable, sample: Sample) -> None:
    """Puts each job where it belongs. With ten thousand of them this takes a while, and is no work for an event loop."""
    span, found.sampled = sample.span, not sample.complete
    for row in sample.jobs:
        of_operation = found.operation(row["operation"])
        _place(row, span, lambda moment: found.slot(span.slot(moment)))
        _place(row, span, lambda _, flow=of_operation: flow)
    for row in sample.jobs_before:
        of_operation = found.operation_before(row["operation"])
        _place(row, span.before, lambda _, flow=of_operation: flow)


def _place(row: Row, within: Span, flow_at: Callable[..., Flow]) -> None:
    """Tells what happened to one job, each thing at its time, as far as that lies in the span."""
    since, until = within.since, within.until
    created, started, finished = row["created_at"], row["started_at"], row["finished_at"]
    if since <= created < until:
        flow_at(created).created += 1
    if started is not None and since <= started < until:
        flow = flow_at(started)
        retried = row["failures"] + row["retry_laters"] - (1 if row["state"] == "failed" and row["failures"] else 0)
        flow.started += 1 + retried
        flow.retried += retried
        flow.took("wait", bucket((started - created).total_seconds()))
    if finished is not None and since <= finished < until:
        flow = flow_at(finished)
        setattr(flow, row["state"], getattr(flow, row["state"]) + 1)
        if started is not None:
            flow.took("run", bucket((finished - started).total_seconds()))
