"""Reports of the fleet, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from towpath import App
from towpath.fleet import schemas, statistics, stored, tables
from towpath.fleet.access import worker_names
from towpath.fleet.shaping import task_shape
from towpath.fleet.views import views
from towpath.http import shapes
from towpath.http.policy import Reader, tenant_of
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/fleet", tags=["fleet"])
_CSV: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "A table with a header, as an attachment."}
}
_TASK_COLUMNS = (
    "task_id", "object_key", "worker_id", "status", "created_at", "updated_at", "failure_reason", "retries", "retry_at",
    "operation", "source", "attempt", "size", "result_bytes",
)  # fmt: skip
_PARTS: dict[str, type[shapes.Answer]] = {
    "trend": schemas.HourOfAttempts, "causes": schemas.CauseOfFailure, "workers": schemas.WorkerReportRow
}  # fmt: skip
_PAGE, _MOST_ROWS = 500, 100_000


class ReportQuery(shapes.Request):
    window: schemas.Window = "24h"
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None


@router.get("/report", operation_id="get_fleet_report")
async def get_fleet_report(principal: Reader, app: Engine, asked: Annotated[ReportQuery, Query()]) -> schemas.FleetReport:
    """Failure trends, causes, retries and what each worker came to."""
    return await _report(app, asked.window, tenant_of(principal, asked.tenant))


async def _report(app: App, window: schemas.Window, tenant: str | None) -> schemas.FleetReport:
    told = await statistics.report(app, window, tenant)
    names = await worker_names(app, set(told.workers))
    seconds = statistics.WINDOWS[window].total_seconds()
    return schemas.FleetReport(
        window=window, attempts=told.attempts, completed=told.completed, failed=told.failed,
        failure_rate=told.failure_rate, retried=told.retried, more=told.more,
        wait_seconds_p50=statistics.quantile(told.waits, 0.5), wait_seconds_p95=statistics.quantile(told.waits, 0.95),
        run_seconds_p50=statistics.quantile(told.runs, 0.5), run_seconds_p95=statistics.quantile(told.runs, 0.95),
        trend=[
            schemas.HourOfAttempts(at=one.at, completed=one.completed, failed=one.failed, lost=one.lost)
            for one in told.trend
        ],
        causes=[schemas.CauseOfFailure(kind=kind, reason=reason, attempts=count) for kind, reason, count in told.causes],
        workers=[_worker(worker_id, one, names.get(worker_id), seconds) for worker_id, one in told.workers.items()],
    )  # fmt: skip


def _worker(worker_id: str, one: statistics.Efficiency, name: str | None, seconds: float) -> schemas.WorkerReportRow:
    mean = round(sum(one.finished) / len(one.finished), 3) if one.finished else None
    return schemas.WorkerReportRow(
        worker_id=worker_id, worker=name, completed=one.completed, failed=one.failed,
        failure_rate=statistics.rate(one.completed, one.failed), mean_seconds=mean,
        busy_share=round(one.seconds / seconds, 4),
    )  # fmt: skip


class TableQuery(ReportQuery):
    what: Annotated[
        Literal["tasks", "trend", "causes", "workers"],
        Field(description="`tasks`: every task there is, newest first; the others are parts of the report."),
    ] = "tasks"  # fmt: skip


@router.get("/report.csv", operation_id="get_fleet_report_csv", response_class=StreamingResponse, responses=_CSV)
async def get_fleet_report_csv(principal: Reader, app: Engine, asked: Annotated[TableQuery, Query()]) -> StreamingResponse:
    """The same for spreadsheets."""
    tenant = tenant_of(principal, asked.tenant)
    headers = {"Content-Disposition": f'attachment; filename="fleet-{asked.what}.csv"'}
    if asked.what == "tasks":
        return StreamingResponse(_tasks(app, tenant), media_type="text/csv", headers=headers)
    told = await _report(app, asked.window, tenant)
    rows = getattr(told, asked.what)
    columns = list(_PARTS[asked.what].model_fields)
    table = tables.lines(columns, ([getattr(row, name) for name in columns] for row in rows))
    return StreamingResponse(iter([table]), media_type="text/csv", headers=headers)


async def _tasks(app: App, tenant: str | None) -> AsyncIterator[str]:
    """Page by page, so that a long table is held by nobody."""
    yield tables.lines(_TASK_COLUMNS, ())
    before, written = None, 0
    while written < _MOST_ROWS:
        page = await stored.page(app, tenant, before=before, limit=_PAGE)
        shaped = [task_shape(view) for view in await views(app, page)]
        rows = tables.lines((), ([getattr(row, name) for name in _TASK_COLUMNS] for row in shaped))
        yield rows.partition("\r\n")[2]
        if len(page) < _PAGE:
            return
        before, written = page[-1].id, written + len(page)
