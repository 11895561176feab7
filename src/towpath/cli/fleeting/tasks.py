"""towpath fleet tasks, status, cancel and retry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from towpath.cli.auditing import note
from towpath.cli.fitting import first_fitting
from towpath.cli.fleeting.opening import TaskId, opened_fleet
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, Limit, Tenant, finds_data
from towpath.cli.screen import clean, console, say_json, table
from towpath.engine.app import App
from towpath.fleet import moving, stored
from towpath.fleet.records import Dispatch
from towpath.fleet.status import STATUSES
from towpath.fleet.views import TaskView, views


@finds_data
def tasks(
    *,
    status: Annotated[str | None, typer.Option("--status", help="Only tasks of this status.", show_default=False)] = None,
    tenant: Tenant = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Lists tasks, newest first.

    \b
    Examples:
      towpath fleet tasks
      towpath fleet tasks --status failed --json
    """
    wanted = None if status is None else status.upper().replace("_", "-")
    if wanted not in (None, *STATUSES):
        raise typer.BadParameter(f"a task is {', '.join(STATUSES)}; got {status!r}", param_hint="--status")
    found = run(_list(tenant, wanted, limit, database))
    if as_json:
        say_json([_as_dict(view) for view in found])
        return
    grid = table("id", "status", "object", "worker", "attempt", "why")
    for view in found:
        last, error = view.last, view.error
        said = f"again at {view.standing.retry_at:%H:%M:%S}" if view.standing.retry_at else view.status
        grid.add_row(
            view.task.id, said, clean(view.task.name or view.task.object_key), clean((last.worker_id if last else "") or ""),
            str(last.attempt if last else 0), clean(error.get("message", "") if error else "")[:80],
        )  # fmt: skip
    console().print(grid if found else "no tasks match")


async def _list(tenant: str | None, status: str | None, limit: int, database: str | None) -> Sequence[TaskView]:
    """A status is told from jobs."""
    async with opened_fleet(database) as app:

        async def page(before: str | None, count: int) -> Sequence[TaskView]:
            return await views(app, await stored.page(app, tenant, before=before, limit=count))

        return await first_fitting(page, lambda view: status in (None, view.status), lambda view: view.task.id, limit)


def _as_dict(view: TaskView) -> dict[str, object]:
    """The columns that whoever keeps tables of tasks knows; URLs are left out."""
    task, last, error = view.task, view.last, view.error
    retry_at = view.standing.retry_at
    return {
        "task_id": task.id, "object_key": task.object_key, "worker_id": last.worker_id if last else None,
        "status": view.status, "created_at": task.created_at.isoformat(), "updated_at": view.updated_at.isoformat(),
        "failure_reason": error.get("message") if error else None, "retries": view.retries,
        "retry_at": retry_at.isoformat() if retry_at else None, "result_key": task.result_key,
    }  # fmt: skip


@finds_data
def status(task_id: TaskId, as_json: AsJson = False, database: Database = None) -> None:
    """Shows one task and every time that it was sent.

    \b
    Examples:
      towpath fleet status ID
    """
    view, attempts = run(_status(task_id, database))
    if as_json:
        say_json(_as_dict(view) | {"attempts": [_attempt(one) for one in attempts]})
        return
    for name, value in _as_dict(view).items():
        if value is not None:
            console().print(f"{name}: {clean(str(value))}")
    grid = table("attempt", "worker", "sent", "outcome", "why")
    for one in attempts:
        sent = f"{one.sent_at:%Y-%m-%d %H:%M:%S}" if one.sent_at else ""
        grid.add_row(str(one.attempt), clean(one.worker_id or ""), sent, one.outcome or "", clean(one.reason or ""))
    console().print(grid)


def _attempt(one: Dispatch) -> dict[str, object]:
    return {"attempt": one.attempt, "worker_id": one.worker_id, "outcome": one.outcome, "reason": one.reason}


async def _status(task_id: str, database: str | None) -> tuple[TaskView, list[Dispatch]]:
    async with opened_fleet(database) as app:
        task = await stored.task(app, task_id.lower())
        [view] = await views(app, [task])
        return view, await stored.attempts(app, task.id)


@finds_data
def cancel(task_id: TaskId, database: Database = None) -> None:
    """Stops a task; its worker hears of that with its next heartbeat.

    \b
    Examples:
      towpath fleet cancel ID
    """
    stopped = run(_cancel(task_id, database))
    typer.echo("cancelled" if stopped else "nothing is being done with it")


async def _cancel(task_id: str, database: str | None) -> list[str]:
    async with opened_fleet(database, writes=True) as app:
        task = await stored.task(app, task_id.lower())
        stopped = await moving.cancel(app, task, "the command line")
        if stopped:
            await note(app, "fleet.cancel", task.id, tenant=task.tenant)
        return stopped


@finds_data
def retry(task_id: TaskId, database: Database = None) -> None:
    """Gives a task that has failed or was cancelled a fresh start.

    \b
    Examples:
      towpath fleet retry ID
    """
    typer.echo(f"queued as job {run(_retry(task_id, database))}")


async def _retry(task_id: str, database: str | None) -> str:
    async with opened_fleet(database, writes=True) as app:
        task = await stored.task(app, task_id.lower())
        job_id = await _requeued(app, task.id)
        await note(app, "fleet.retry", task.id, tenant=task.tenant)
        return job_id


async def _requeued(app: App, task_id: str) -> str:
    return await moving.retry(app, await stored.task(app, task_id))
