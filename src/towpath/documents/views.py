"""Items as people see them: status, steps, what they took, what is waited for, error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from towpath import App, Prospect, Row, State, from_json, moment
from towpath.documents.names import FAILED, RUN
from towpath.documents.outlook import Outlooks
from towpath.documents.pipeline import Pipeline
from towpath.documents.records import Item
from towpath.documents.status import CANCELLED, ITEM_TABLE, PENDING, RUNNING, step_of


@dataclass(slots=True)
class StepView:
    name: str
    done: bool
    duration_ms: float | None
    retries: int
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    reused: bool
    ended_at: datetime


@dataclass(slots=True)
class ItemView:
    item: Item
    status: str
    step: str
    job_id: str | None = None
    attempt: int = 0
    steps: list[StepView] = field(default_factory=list)
    failed_step: str | None = None
    waiting_for: str | None = None
    retry_at: datetime | None = None
    error: dict[str, Any] | None = None
    prospect: Prospect | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def reused(self) -> list[str]:
        return [one.name for one in self.steps if one.reused] or list((self.item.outcome or {}).get("reused", []))

    @property
    def superseded(self) -> bool:
        return bool((self.item.outcome or {}).get("superseded"))

    def total(self, name: str) -> Any:
        known = [value for one in self.steps if (value := getattr(one, name)) is not None]
        return sum(known) if known else None


async def item_views(app: App, items: Sequence[Item]) -> list[ItemView]:
    if not items:
        return []
    jobs = {row["subject_id"]: row for row in await app.query("document_item_jobs", ids=[one.id for one in items])}
    steps: dict[str, list[Row]] = {}
    if jobs:
        for row in await app.query("document_item_steps", job_ids=[str(row["id"]) for row in jobs.values()]):
            steps.setdefault(str(row["job_id"]), []).append(row)
    order = app.part(Pipeline).names
    stopped = await _stopped(app, {one.run_id for one in items if one.id not in jobs and one.ended is None})
    views = [
        _view(one, jobs[one.id], steps, order) if one.id in jobs else _without_job(one, one.run_id in stopped)
        for one in items
    ]
    live = [view for view in views if view.status in (PENDING, RUNNING)]
    outlooks = await app.part(Outlooks).of(app, {view.item.run_id for view in live}) if live else {}
    for view in live:
        outlook = outlooks.get(view.item.run_id)
        if outlook is not None:
            done = {one.name for one in view.steps if one.done}
            view.prospect = outlook.of(view.item.id, waits=view.waiting_for, begun=view.status == RUNNING, done=done)
    return views


async def _stopped(app: App, runs: set[str]) -> set[str]:
    """Those that were cancelled before their items had jobs."""
    jobs = await app.subjects.jobs(RUN, sorted(runs)) if runs else {}
    return {run_id for run_id, found in jobs.items() if found and found[-1].state is State.CANCELLED}


def _view(item: Item, job: Row, steps: Mapping[str, list[Row]], order: Sequence[str]) -> ItemView:
    state = State(job["state"])
    own = [_step(row) for row in steps.get(str(job["id"]), ())]
    status = ITEM_TABLE[state]
    view = ItemView(item, status, step_of(status, {one.name for one in own if one.done}, order), str(job["id"]), steps=own)
    view.attempt = max(1, job["failures"] + (state is not State.FAILED))
    view.error = from_json(job["error"])
    view.failed_step = next((one.name for one in own if not one.done), None) if view.error else None
    view.waiting_for = job["reason"] if state in (State.QUEUED, State.WAITING) else None
    view.retry_at = _at(job["run_at"]) if state is State.QUEUED else None
    view.started_at, view.finished_at = _at(job["started_at"]), _at(job["finished_at"])
    return view


def _without_job(item: Item, stopped: bool) -> ItemView:
    """Its job is gone, or has not been made yet, or never will be: its run was stopped before."""
    if item.ended is None:
        status = CANCELLED if stopped else PENDING
        return ItemView(item, status, step_of(status, (), ()))
    status = ITEM_TABLE[item.ended.state]
    view = ItemView(item, status, step_of(status, (), ()))
    view.error = item.ended.error if status == FAILED else None
    return view


def _step(row: Row) -> StepView:
    output = from_json(row["output"]) if row["done"] else None
    reused = isinstance(output, dict) and bool(output.get("reused"))
    return StepView(
        row["name"], bool(row["done"]), row["duration_ms"], row["retries"], row["model"], row["tokens_in"],
        row["tokens_out"], row["cost_cents"], reused, moment(row["created_at"]),
    )  # fmt: skip


def _at(value: Any) -> datetime | None:
    return None if value is None else moment(value)
