"""towpath jobs: the group, and its list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from towpath.cli import moving, showing, watching
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, Limit, Operation, Queue, Tenant, finds_data
from towpath.cli.records import job_as_dict
from towpath.cli.screen import clean, console, one_line, say_json, state, table
from towpath.cli.words import rough
from towpath.core.records import Job
from towpath.engine.app import App

_WIDE = 100

app = typer.Typer(no_args_is_help=True, help="Look at jobs: list, show, watch. Move them: cancel, retry, delete.")


@app.command("list")
@finds_data
def list_jobs(
    *,
    state: Annotated[
        str | None, typer.Option("--state", help="Only jobs in this state, in capitals or not.", show_default=False)
    ] = None,
    operation: Operation = None,
    queue: Queue = None,
    tenant: Tenant = None,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="ID", help="Only children of this job.", show_default=False)
    ] = None,
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="ID", help="Go on after this id, the last of a page.", show_default=False),
    ] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Lists jobs, newest first.

    \b
    Examples:
      towpath jobs list
      towpath jobs list --state failed --operation resize
      towpath jobs list --tenant alice --limit 100 --json
    """

    async def ask(app: App) -> Sequence[Job]:
        return await app.list(
            state=state, operation=operation, queue=queue, tenant=tenant, parent=parent, before=before, limit=limit
        )

    run(show_page(ask, limit, as_json, database, nothing="no jobs match", more="--before"))


async def show_page(
    ask: Callable[[App], Awaitable[Sequence[Job]]],
    limit: int,
    as_json: bool,
    database: str | None,
    *,
    nothing: str,
    more: str,
) -> None:
    """A page of jobs: as JSON or as a table, what to say if there is none, and the option that goes on from its last."""
    async with opened(database) as app:
        found, now = await ask(app), await app.now()
    if as_json:
        say_json([job_as_dict(job) for job in found])
        return
    screen = console()
    screen.print(_table(found, now, screen.width) if found else nothing)
    if len(found) == limit:
        screen.print(f"there may be more: {more} {found[-1].id}, or a higher --limit", style="dim")


def _table(found: Sequence[Job], now: datetime, width: int) -> Table:
    """All columns where there is room; on a narrow terminal what went wrong comes before whose it is."""
    values = {
        "id": lambda job: job.id,
        "state": lambda job: state(job.state.value),
        "operation": lambda job: clean(job.operation),
        "tenant": lambda job: clean(job.tenant),
        "age": lambda job: rough((now - job.created_at).total_seconds()),
        "about": about,
    }
    columns = list(values)
    if width < _WIDE:
        columns = ["id", "state", "operation", *(["about"] if any(job.error for job in found) else ["tenant", "age"])]
    grid = table(*columns)
    for job in found:
        grid.add_row(*[values[name](job) for name in columns])
    return grid


def about(job: Job) -> Text:
    """The one thing worth knowing about a job in its state."""
    if job.error:
        return Text(one_line(job.error.get("message", ""), 80), "red")
    if job.children_total:
        return Text(f"{job.children_ended} of {job.children_total} children")
    if job.progress_current is not None and not job.ended:
        return Text(progress(job.progress_current, job.progress_total))
    return Text(clean(job.reason or ""), "dim")


def progress(current: float, total: float | None) -> str:
    return f"{current:g} of {total:g}" if total else f"{current:g}"


app.command("show")(showing.show)
app.command("watch")(watching.watch)
app.command("cancel")(moving.cancel)
app.command("retry")(moving.retry)
app.command("delete")(moving.delete)
