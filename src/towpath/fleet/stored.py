"""Tasks, the times they were sent, and workers as they are stored: looking them up."""

from __future__ import annotations

from collections.abc import Iterable

from towpath import App, Context, TowpathError
from towpath.fleet.records import Dispatch, Task, Worker, dispatch_from, task_from, worker_from

Source = App | Context
"""Whoever reads: an app, or a running operation."""
_LAST = "g"
"""Sorts after every id."""


class NotFound(TowpathError, LookupError):
    """There is none of this id, or it belongs to somebody else."""


async def tasks(source: Source, ids: Iterable[str]) -> list[Task]:
    asked = list(dict.fromkeys(ids))
    return [task_from(row) for row in await source.query("fleet_tasks_by_id", ids=asked)] if asked else []


async def task(source: Source, task_id: str, *, tenant: str | None = None) -> Task:
    """The task, if there is one and it is this tenant's; `tenant=None` is for those who may see all."""
    found = await tasks(source, [task_id])
    if not found or (tenant is not None and found[0].tenant != tenant):
        raise NotFound(f"no task has the id {task_id[:100]!r}; it may have been deleted")
    return found[0]


async def page(source: Source, tenant: str | None, *, before: str | None, limit: int) -> list[Task]:
    """Newest first; `before` is the last id of the page before. `tenant=None` is all of them."""
    rows = await source.query("fleet_tasks_page", tenant=tenant, before=before or _LAST, limit=limit)
    return [task_from(row) for row in rows]


async def newest(source: Source, task_id: str) -> Dispatch | None:
    rows = await source.query("fleet_dispatch_newest", task_id=task_id)
    return dispatch_from(rows[0]) if rows else None


async def newest_of(source: Source, ids: Iterable[str]) -> dict[str, Dispatch]:
    asked = list(dict.fromkeys(ids))
    rows = await source.query("fleet_dispatches_newest_of", ids=asked) if asked else []
    return {row["task_id"]: dispatch_from(row) for row in rows}


async def attempts(source: Source, task_id: str) -> list[Dispatch]:
    return [dispatch_from(row) for row in await source.query("fleet_dispatches_of", ids=[task_id])]


async def attempt(source: Source, task_id: str, number: int) -> Dispatch | None:
    rows = await source.query("fleet_dispatch_one", task_id=task_id, attempt=number)
    return dispatch_from(rows[0]) if rows else None


async def workers(source: Source, ids: Iterable[str]) -> list[Worker]:
    asked = list(dict.fromkeys(ids))
    return [worker_from(row) for row in await source.query("fleet_workers_by_id", ids=asked)] if asked else []
