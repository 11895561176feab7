"""Batches as people see them: status, progress, what is waited for, error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from towpath import App, Job, ProviderJob, State
from towpath.batches import stored
from towpath.batches.openai_lines import written_for_openai
from towpath.batches.records import Batch
from towpath.batches.status import is_gathering, standing, warning_of
from towpath.batches.stored import Work


@dataclass(slots=True)
class BatchView:
    batch: Batch
    status: str
    job: Job | None
    ordered: list[ProviderJob] = field(default_factory=list)
    done: int = 0
    """Requests that have been worked on, whatever came of them; once for each model."""
    total: int | None = None
    error: str | None = None
    warning: str | None = None
    waiting_for: str | None = None


async def views(app: App, batches: Sequence[Batch]) -> list[BatchView]:
    return [_view(work) for work in await stored.work_on(app, batches)]


def _view(work: Work) -> BatchView:
    batch = work.batch
    told = standing(work.jobs, work.ordered, batch.ended)
    job = told.job
    own = [row for row in work.ordered if job is not None and row.job_id == job.id]
    view = BatchView(batch, told.status, job, own)
    each = 1 if written_for_openai(batch) else len(batch.models)
    view.total = None if batch.count is None else (batch.count - (batch.invalid or 0)) * each
    view.done = _done(view)
    error = (job.error if job is not None else told.ended.error if told.ended is not None else None) or {}
    state = job.state if job is not None else told.ended.state if told.ended is not None else None
    view.error = error.get("message") if state is State.FAILED else None
    view.warning = (
        warning_of(batch.failed, batch.invalid, batch.task_type) if state in (State.PARTIAL, State.SUCCEEDED) else None
    )
    view.waiting_for = job.reason if job is not None and job.state is State.WAITING else None
    if job is not None and is_gathering(job):
        view.waiting_for = "requests"
    return view


def _done(view: BatchView) -> int:
    batch = view.batch
    if batch.ok is not None:
        return batch.ok + (batch.failed or 0)
    if view.ordered:
        counts = [row.answer.get("counts") or {} for row in view.ordered]
        return sum(int(one.get("completed") or 0) + int(one.get("failed") or 0) for one in counts)
    return int(view.job.progress_current or 0) if view.job is not None else 0
