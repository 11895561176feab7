"""Tasks with all that is known of them, for lists, pages and the push stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath import App, Prospect
from towpath.fleet import stored
from towpath.fleet.names import KIND
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.status import Standing, standing


@dataclass(frozen=True, slots=True)
class TaskView:
    task: Task
    standing: Standing
    last: Dispatch | None
    prospect: Prospect | None = None

    @property
    def status(self) -> str:
        return self.standing.status

    @property
    def error(self) -> dict[str, Any] | None:
        if self.standing.job is not None:
            return self.standing.job.error
        return self.standing.ended.error if self.standing.ended else None

    @property
    def retries(self) -> int:
        job = self.standing.job
        return job.failures if job is not None else 0

    @property
    def updated_at(self) -> datetime:
        job = self.standing.job
        times = [self.task.created_at, self.last.last_change if self.last else None, job.finished_at if job else None]
        return max(one for one in times if one is not None)


async def views(app: App, tasks: Sequence[Task]) -> list[TaskView]:
    if not tasks:
        return []
    ids = [task.id for task in tasks]
    jobs, sent, now = await app.subjects.jobs(KIND, ids), await stored.newest_of(app, ids), await app.now()
    return [TaskView(task, standing(jobs[task.id], sent.get(task.id), task.ended, now), sent.get(task.id)) for task in tasks]


async def views_of(app: App, ids: Iterable[str]) -> list[TaskView]:
    return await views(app, await stored.tasks(app, ids))
