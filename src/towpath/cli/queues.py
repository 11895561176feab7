"""towpath queues: what is in them, and how much of each may run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from towpath.cli import lanes
from towpath.cli.auditing import noting
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, New, QueueName, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, say_json, table
from towpath.engine.app import App
from towpath.engine.asking.queues import QueueView

app = typer.Typer()


@app.callback(invoke_without_command=True)
@finds_data
def queues(ctx: typer.Context, as_json: AsJson = False, database: Database = None) -> None:
    """Lists the queues: how many jobs are in them, and how many live workers serve them.

    \b
    Examples:
      towpath queues
      towpath queues show images
      towpath queues pause images
      towpath queues cap gpu 2
      towpath queues lane images alice --weight 3
    """
    if ctx.invoked_subcommand is None:
        run(_list(as_json, database))


async def _list(as_json: bool, database: str | None) -> None:
    async with opened(database) as app:
        found = await app.queues.list()
    if as_json:
        say_json([plain(view) for view in found])
    else:
        console().print(_grid(found) if found else "no queue has had a job yet")


def _grid(views: Sequence[QueueView]) -> Table:
    grid = table("queue", "queued", "running", "waiting", "cap", "workers", "")
    for view in views:
        cap = "–" if view.max_slots is None else str(view.max_slots)
        numbers = [f"{number:,}" for number in (view.queued, view.running, view.waiting)]
        grid.add_row(clean(view.name), *numbers, cap, str(view.workers), _remark(view))
    return grid


def _remark(view: QueueView) -> Text:
    if view.paused:
        return Text("paused", "yellow")
    return Text("no live worker", "red") if view.queued and not view.workers else Text()


@app.command("show")
@finds_data
def show(queue: QueueName, as_json: AsJson = False, database: Database = None) -> None:
    """Shows one queue: how many jobs are in it, and how many live workers serve it. No other queue is looked at.

    \b
    Examples:
      towpath queues show images
      towpath queues show images --json
    """

    async def work() -> QueueView:
        async with opened(database) as app:
            return await app.queues.get(queue)

    found = run(work())
    if as_json:
        say_json(plain(found))
    else:
        console().print(_grid([found]))


@app.command("pause")
@finds_data
def pause(queue: QueueName, new: New = False, database: Database = None) -> None:
    """Stops workers from taking jobs of a queue; what runs goes on.

    \b
    Examples:
      towpath queues pause images
    """

    async def work(app: App) -> None:
        await app.queues.pause(queue, also=await noting(app, "queue.pause", queue))

    run(_change(queue, work, new, database))
    typer.echo(f"{queue} is paused")


@app.command("resume")
@finds_data
def resume(queue: QueueName, database: Database = None) -> None:
    """Lets workers take jobs of a queue again.

    \b
    Examples:
      towpath queues resume images
    """

    async def work(app: App) -> None:
        await app.queues.resume(queue, also=await noting(app, "queue.resume", queue))

    run(_change(queue, work, False, database))
    typer.echo(f"{queue} is open")


@app.command("cap")
@finds_data
def cap(
    queue: QueueName,
    slots: Annotated[str, typer.Argument(metavar="SLOTS|none", help="How many may run at once, or none for no cap.")],
    new: New = False,
    database: Database = None,
) -> None:
    """Caps how many jobs of a queue run at once, over all workers.

    \b
    Examples:
      towpath queues cap gpu 2
      towpath queues cap gpu none
      towpath queues cap gpu 2 --new
    """
    most = _cap(slots)

    async def work(app: App) -> None:
        await app.queues.cap(queue, most, also=await noting(app, "queue.cap", queue, max_slots=slots))

    run(_change(queue, work, new, database))
    typer.echo(f"{queue} has no cap" if most is None else f"{queue} runs at most {most} at once")


def _cap(text: str) -> int | None:
    if text.lower() == "none":
        return None
    if not text.isdecimal():
        raise typer.BadParameter(f"a cap is a whole number of zero or more, or none; got {text!r}")
    return int(text)


app.command("lane")(lanes.lane)
app.command("lanes")(lanes.lanes)


async def _change(queue: str, work: Callable[[App], Awaitable[None]], new: bool, database: str | None) -> None:
    async with opened(database) as app:
        if not new:
            await app.queues.get(queue)  # which refuses a name that nobody knows
        await work(app)
