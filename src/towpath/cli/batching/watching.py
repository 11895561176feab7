"""towpath batch watch: follows a batch until it has ended."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from towpath.batches import stored
from towpath.batches.status import COMPLETED, IN_PROGRESS, PARTIAL_COMPLETE, PENDING, words_of
from towpath.batches.views import BatchView, views
from towpath.cli.batching.opening import BatchId, opened_batches
from towpath.cli.batching.showing import status_text
from towpath.cli.opening import run
from towpath.cli.options import Database, finds_data
from towpath.cli.screen import clean, console, is_live
from towpath.engine.app import App

_LOOK_AGAIN = 0.5


@finds_data
def watch(batch_id: BatchId, database: Database = None) -> None:
    """Follows a batch live until it has ended. Exit code 0: completed, in whole or in part; 1: failed or cancelled.

    \b
    Examples:
      towpath batch watch ID
    """
    raise typer.Exit(run(follow(batch_id, database)))


async def follow(batch_id: str, database: str | None, *, quiet: bool = False) -> int:
    """The exit code."""
    async with opened_batches(database) as app:
        view = await _to_the_end(app, batch_id.lower(), quiet)
    if not quiet:
        batch = view.batch
        answered = words_of(batch.task_type).answered
        counts = "" if batch.ok is None else f": {batch.ok:,} {answered}, {batch.failed or 0:,} failed"
        console().print(Text.assemble(clean(batch.title), " ", status_text(view.status), counts))
        if view.error or view.warning:
            console().print(Text(clean(view.error or view.warning), "red" if view.error else "yellow"))
    return 0 if view.status in (COMPLETED, PARTIAL_COMPLETE) else 1


async def _to_the_end(app: App, batch_id: str, quiet: bool) -> BatchView:
    told: tuple[str, str | None] | None = None
    with ExitStack() as stack:
        bar = stack.enter_context(_bar()) if is_live() and not quiet else None
        task = bar.add_task(batch_id, total=None, status=PENDING) if bar is not None else None
        while True:
            [view] = await views(app, [await stored.find(app, batch_id)])
            waits = f"{view.status} ({view.waiting_for})" if view.waiting_for else view.status
            if bar is not None and task is not None:
                bar.update(task, completed=view.done, total=view.total, status=waits, description=clean(view.batch.title))
            elif not quiet and told != (view.status, view.waiting_for):
                console().print(waits)
            told = view.status, view.waiting_for
            if view.status not in (PENDING, IN_PROGRESS):
                return view
            await asyncio.sleep(_LOOK_AGAIN)


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}", markup=False), TextColumn("{task.fields[status]}", style="cyan", markup=False),
        BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    return Progress(*columns, console=console(), refresh_per_second=4)
