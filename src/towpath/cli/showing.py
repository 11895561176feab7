"""towpath jobs show: everything there is to know about one job."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from towpath.cli.naming import job_named
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, JobId, finds_data
from towpath.cli.records import event_as_dict, job_as_dict, step_as_dict
from towpath.cli.screen import clean, console, facts, one_line, say_json, state, table
from towpath.cli.words import age, clock, duration, time_of_day
from towpath.core.records import Event, Job, Step
from towpath.engine.app import App

_CHILDREN_SHOWN = 10


@dataclass(slots=True)
class ShownJob:
    """A job with what belongs to it."""

    job: Job
    payload: Any
    steps: list[Step]
    events: list[Event]
    children: list[Job]
    why: str
    now: datetime


@finds_data
def show(
    job_id: JobId,
    events: Annotated[int, typer.Option("--events", min=0, help="How many of its latest events to show.")] = 10,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Shows one job: its state and why, progress, error and remedy, steps, children, latest events.

    \b
    Examples:
      towpath jobs show ID
      towpath jobs show ID --events 100 --json
    """
    whole = run(_read(job_id, events, database))
    if as_json:
        say_json(_as_dict(whole))
    else:
        _print(whole)


async def _read(job_id: str, events: int, database: str | None) -> ShownJob:
    async with opened(database) as app:
        job = await app.get(await job_named(app, job_id))
        return ShownJob(
            job,
            await app.payload(job.id),
            list(await app.steps(job.id)),
            [event async for event in app.events(job_id=job.id, after=max(0, job.seq - events))][:events],
            await _first_children(app, job),
            (await app.explain(job.id)).sentence,
            await app.now(),
        )


async def _first_children(app: App, job: Job) -> list[Job]:
    """Those that did not succeed first: they are why one looks."""
    if not job.children_total:
        return []
    failed = await app.list(parent=job.id, state="failed", limit=_CHILDREN_SHOWN)
    newest = await app.list(parent=job.id, limit=_CHILDREN_SHOWN)
    seen = {child.id for child in failed}
    return [*failed, *(child for child in newest if child.id not in seen)][:_CHILDREN_SHOWN]


def _as_dict(whole: ShownJob) -> dict[str, Any]:
    return job_as_dict(whole.job) | {
        "payload": whole.payload,
        "why": whole.why,
        "steps": [step_as_dict(step) for step in whole.steps],
        "events": [event_as_dict(event) for event in whole.events],
    }


def _print(whole: ShownJob) -> None:
    screen, job = console(), whole.job
    screen.print(Text.assemble((clean(job.operation), "bold"), "  ", state(job.state.value)))
    screen.print(facts([*_place(job), *_times(job, whole.now), *_outcome(whole)]))
    if whole.steps:
        screen.print()
        screen.print(_steps(whole.steps))
    if whole.children:
        screen.print()
        screen.print(_children(whole))
    if whole.events:
        screen.print()
        screen.print(_events(whole.events))


def _place(job: Job) -> list[tuple[str, Any]]:
    lane = f", lane {job.lane}" if job.lane != job.tenant else ""
    return [
        ("id", job.id),
        ("tenant", f"{job.tenant}{lane}"),
        ("queue", f"{job.queue}, priority {job.priority}"),
        ("key", job.key),
        ("parent", job.parent_id),
        ("attempts", f"{job.attempt} entered, {job.failures} of {job.max_attempts} failed"),
        ("worker", job.worker_id if job.leased else None),
    ]


def _times(job: Job, now: datetime) -> list[tuple[str, Any]]:
    ran = ""
    if job.finished_at and job.started_at:
        ran = f", after {duration((job.finished_at - job.started_at).total_seconds())}"
    return [
        ("created", f"{clock(job.created_at)} ({age(job.created_at, now)})"),
        ("scheduled", f"{clock(job.run_at)} ({age(job.run_at, now)})" if job.run_at else None),
        ("started", clock(job.started_at) if job.started_at else None),
        ("finished", f"{clock(job.finished_at)}{ran}" if job.finished_at else None),
        ("waits until", f"{clock(job.deadline)} at most" if job.deadline else None),
    ]


def _outcome(whole: ShownJob) -> list[tuple[str, Any]]:
    job, error = whole.job, whole.job.error or {}
    counts = f"{job.children_total}: {job.children_ok} ok, {job.children_partial} partial, {job.children_bad} bad"
    return [
        ("progress", _progress(job)),
        ("children", f"{counts}, {job.children_open} open" if job.children_total else None),
        ("why", whole.why),
        ("error", Text(one_line(f"{error.get('kind')}: {error.get('message')}", 2000), "red") if error else None),
        ("what to do", error.get("remedy")),
        ("payload", one_line(_short_json(whole.payload))),
        ("result", one_line(_short_json(job.result)) if job.result_json else None),
    ]


def _progress(job: Job) -> str | None:
    return None if job.progress_current is None else _amount(job.progress_current, job.progress_total)


def _amount(current: float, total: float | None) -> str:
    return f"{current:g} of {total:g} ({current / total:.0%})" if total else f"{current:g}"


def _short_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _steps(steps: list[Step]) -> Table:
    """Columns that would be empty are left out."""
    rows = [_step(step) for step in steps]
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    grid = table(*names)
    for row in rows:
        grid.add_row(*[row[name] for name in names])
    return grid


def _step(step: Step) -> dict[str, str]:
    tokens = f"{step.tokens_in or 0} in, {step.tokens_out or 0} out" if step.tokens_in or step.tokens_out else ""
    return {
        "step": clean(step.name),
        "kind": step.kind,
        "done": "yes" if step.done else "no",
        "took": duration(step.duration_ms / 1000) if step.duration_ms is not None else "",
        "retries": str(step.retries or ""),
        "model": clean(step.model or ""),
        "tokens": tokens,
        "cents": f"{step.cost_cents:g}" if step.cost_cents else "",
    }


def _children(whole: ShownJob) -> Table:
    grid = table("child", "state", "operation", "error")
    for child in whole.children:
        message = one_line((child.error or {}).get("message", ""), 80)
        grid.add_row(child.id, state(child.state.value), clean(child.operation), Text(message, "red"))
    return grid


def _events(events: list[Event]) -> Table:
    grid = table("time", "event", "what")
    for event in events:
        grid.add_row(time_of_day(event.ts), clean(event.name), event_text(event))
    return grid


_LEVEL_STYLES = {"warning": "yellow", "error": "red", "debug": "dim"}


def event_text(event: Event) -> Text:
    """The message of an event, or else its fields."""
    return Text(one_line(event.message or _fields(event), 160), _LEVEL_STYLES.get(event.level, ""))


def _fields(event: Event) -> str:
    fields = {name: value for name, value in (event.fields or {}).items() if value is not None}
    if not event.name.startswith("job."):
        return _listed(fields)
    counts = {name: fields.pop(name, None) for name in ("total", "ok", "partial", "bad", "current", "of")}
    if counts["total"]:
        good = (counts["ok"] or 0) + (counts["partial"] or 0)
        return ", ".join(filter(None, [f"{good} of {counts['total']} children good, {counts['bad']} bad", _listed(fields)]))
    amount = "" if counts["current"] is None else _amount(counts["current"], counts["of"])
    return ", ".join(filter(None, [amount, _listed(fields)]))


def _listed(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_field(value)}" for name, value in fields.items())


def _field(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else _short_json(value)
