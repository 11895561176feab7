"""towpath jobs watch: follows one job until it has ended."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from towpath.cli.naming import job_named
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, JobId, finds_data
from towpath.cli.records import event_as_dict
from towpath.cli.screen import clean, console, is_live, say_json_line, state
from towpath.cli.showing import event_text
from towpath.cli.words import time_of_day
from towpath.core.lifecycle import STATE_AFTER, State
from towpath.core.records import Event, Job
from towpath.engine.app import App

_GOOD = (State.SUCCEEDED, State.PARTIAL)


@finds_data
def watch(
    job_id: JobId,
    events: Annotated[int, typer.Option("--events", min=0, help="How many earlier events to show first.")] = 10,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Follows a job live until it has ended. Exit code 0: succeeded or partial; 1: failed or cancelled.

    With --json each event is one line of JSON.

    \b
    Examples:
      towpath jobs watch ID
      towpath jobs watch ID --json | jq .name
    """
    job = run(_watch(job_id, events, as_json, database))
    raise typer.Exit(0 if job.state in _GOOD else 1)


async def _watch(job_id: str, events: int, as_json: bool, database: str | None) -> Job:
    async with opened(database) as app:
        job = await app.get(await job_named(app, job_id))
        after = max(0, job.seq - events)
        if as_json:
            async for event in app.events(job_id=job.id, after=after, follow=True):
                say_json_line(event_as_dict(event))
        elif is_live():
            await _with_bar(app, job, after)
        else:
            await _as_lines(app, job, after)
        job = await app.get(job.id)
        if not as_json:
            _last_word(job)
        return job


async def _as_lines(app: App, job: Job, after: int) -> None:
    screen = console()
    if not job.ended:
        screen.print(f"{job.state.value}: {clean((await app.explain(job.id)).sentence)}")
    async for event in app.events(job_id=job.id, after=after, follow=True):
        screen.print(_line(event))


async def _with_bar(app: App, job: Job, after: int) -> None:
    screen = console()
    with _bar(screen) as bar:
        task = bar.add_task(clean(job.operation), total=job.progress_total, state=job.state.value)
        bar.update(task, completed=job.progress_current or 0)
        if not job.ended:
            screen.print(Text(clean((await app.explain(job.id)).sentence), "dim"))
        async for event in app.events(job_id=job.id, after=after, follow=True):
            screen.print(_line(event))
            if event.name in STATE_AFTER:
                bar.update(task, state=STATE_AFTER[event.name].value)
            fields = event.fields or {}
            if fields.get("current") is not None:
                bar.update(task, completed=fields["current"], total=fields.get("of"))
        if bar.tasks[task].total is None and (await app.get(job.id)).state in _GOOD:
            bar.update(task, completed=1, total=1)


def _bar(screen: Console) -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[state]}", style="cyan", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=screen, refresh_per_second=8)


def _line(event: Event) -> Text:
    return Text.assemble((time_of_day(event.ts), "dim"), "  ", (f"{clean(event.name):<20}", "bold"), "  ", event_text(event))


def _last_word(job: Job) -> None:
    screen, error = console(), job.error or {}
    screen.print(Text.assemble(clean(job.operation), " ", state(job.state.value)))
    if job.state is State.FAILED:
        screen.print(Text(clean(error.get("message", "")), "red"))
        if error.get("remedy"):
            screen.print(f"what to do: {clean(error['remedy'])}")
