"""Runs as people see them: status, how many items stand where, what they took, and when it will be done.

Counts of a run under way are asked of the database again only when the last answer is old compared with what it cost: of
ten thousand items something changes all the time. Of a run that has ended they are exact.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from towpath import App, Job, Prospect, Reading, State
from towpath.documents.names import FAILED, RUN
from towpath.documents.pipeline import Pipeline
from towpath.documents.records import Run
from towpath.documents.status import CANCELLED, COMPLETED, ITEM_TABLE, PENDING, RUN_TABLE, RUNNING

_COUNTED = (PENDING, RUNNING, COMPLETED, FAILED, CANCELLED)
_KEPT = 500
_FRESH, _WORTH = 0.25, 10.0


@dataclass(slots=True)
class StepCount:
    """`done` is how many items have this step behind them."""

    step: str
    done: int = 0
    duration_ms: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_cents: float = 0.0


@dataclass(frozen=True, slots=True)
class Money:
    """What a run may spend, and what it has, with what is held back."""

    limit: float
    spent: float


@dataclass(slots=True)
class Counts:
    items: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    waiting: dict[str, int] = field(default_factory=dict)
    """By what is waited for, other than a turn."""
    steps: list[StepCount] = field(default_factory=list)
    budget: Money | None = None

    def total(self, name: str) -> Any:
        return sum(getattr(one, name) for one in self.steps)


@dataclass(slots=True)
class RunView:
    run: Run
    status: str
    job: Job | None
    counts: Counts
    prospect: Prospect | None = None
    error: str | None = None
    warning: str | None = None
    waiting_for: str | None = None


class Counting:
    """Kept on an app: what was counted lately of runs under way."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float, Counts]] = {}

    async def of(self, app: App, run: Run, job: Job | None) -> Counts:
        live = job is not None and job.live
        known = self._known.get(run.id)
        began = time.monotonic()
        if live and known is not None and began - known[0] < max(_FRESH, _WORTH * known[1]):
            return known[2]
        counts = await app.read(lambda tx: _count(tx, run, job, app.part(Pipeline).names))
        if job is not None and run.settings.get("budget_cents") is not None:
            limits = [one for one in await app.spending.of_job(job.id) if one.scope == "run"]
            counts.budget = Money(limits[0].cents, limits[0].spent) if limits else None
        self._known.pop(run.id, None)
        if live:
            now = time.monotonic()
            self._known[run.id] = (now, now - began, counts)
            while len(self._known) > _KEPT:
                self._known.pop(next(iter(self._known)))
        return counts


async def _count(tx: Reading, run: Run, job: Job | None, order: Sequence[str]) -> Counts:
    counts = Counts(steps=[StepCount(name) for name in order])
    rows = list(await tx.query("document_run_last_states", run_id=run.id)) if job is None else []
    if job is not None:
        rows = [dict(row) | {"last_state": row["state"]} for row in await tx.query("document_run_states", job_id=job.id)]
        for row in rows:
            if row["waits"] is not None:
                counts.waiting[row["waits"]] = counts.waiting.get(row["waits"], 0) + row["items"]
        by_name = {one.step: one for one in counts.steps}
        for row in await tx.query("document_run_steps", job_id=job.id):
            if (step := by_name.get(row["name"])) is not None:
                step.done, step.duration_ms = int(row["done"] or 0), float(row["duration_ms"] or 0.0)
                step.tokens_in, step.tokens_out = int(row["tokens_in"] or 0), int(row["tokens_out"] or 0)
                step.cost_cents = float(row["cost_cents"] or 0.0)
    for row in rows:
        counts.items[ITEM_TABLE[State(row["last_state"])]] += row["items"]
    missing = (run.count or 0) - sum(counts.items.values())
    stopped = job is not None and job.state is State.CANCELLED  # before its items had jobs of their own
    counts.items[CANCELLED if stopped else PENDING] += max(0, missing)
    return counts


async def run_views(app: App, runs: Sequence[Run]) -> list[RunView]:
    if not runs:
        return []
    ids = [run.id for run in runs]
    jobs = await app.subjects.jobs(RUN, ids)
    newest = {run_id: found[-1] for run_id, found in jobs.items() if found}
    live = [run_id for run_id, job in newest.items() if job.live]
    prospects = await app.subjects.prospects(RUN, live) if live else {}
    return [await _view(app, run, newest.get(run.id), prospects) for run in runs]


async def _view(app: App, run: Run, job: Job | None, prospects: dict[str, Prospect]) -> RunView:
    counts = await app.part(Counting).of(app, run, job)
    state = job.state if job is not None else run.ended.state if run.ended is not None else State.FAILED
    view = RunView(run, RUN_TABLE[state], job, counts)
    error = (job.error if job is not None else run.ended.error if run.ended is not None else None) or {}
    view.error = error.get("message") if state is State.FAILED else None
    failed = counts.items[FAILED] + counts.items[CANCELLED]
    of_all = f"{failed:,} of {sum(counts.items.values()):,}"
    view.warning = f"{of_all} documents were not read" if state is State.PARTIAL else None
    view.waiting_for = job.reason if job is not None and job.state is State.WAITING else None
    view.prospect = prospects.get(job.id) if job is not None else None
    return view
