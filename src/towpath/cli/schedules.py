"""towpath schedules: what fires when, and a way to hold it."""

from __future__ import annotations

import typer
from rich.text import Text

from towpath.cli import planning
from towpath.cli.auditing import noting
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, ScheduleName, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, say_json, table
from towpath.cli.words import age, clock
from towpath.core.encoding import decode
from towpath.core.records import Schedule

app = typer.Typer()


@app.callback(invoke_without_command=True)
@finds_data
def schedules(ctx: typer.Context, as_json: AsJson = False, database: Database = None) -> None:
    """Lists the schedules: what they enqueue, when they fire next, when they fired last.

    Most are declared by an app (app.schedule): they live as long as a process of it runs, and are retired when none declares
    them any more. Others are made and removed here, over the API or in the UI.

    \b
    Examples:
      towpath schedules
      towpath schedules pause nightly-report
      towpath schedules add nightly-report '0 3 * * *' report --queue reports
      towpath schedules remove nightly-report
    """
    if ctx.invoked_subcommand is None:
        run(_list(as_json, database))


async def _list(as_json: bool, database: str | None) -> None:
    async with opened(database) as app:
        found, now = await app.schedules.list(), await app.now()
    if as_json:
        say_json([_as_dict(schedule) for schedule in found])
        return
    grid = table("name", "cron", "operation", "tenant", "next", "last", "from")
    for item in found:
        upcoming = Text(f"{clock(item.next_fire)} ({age(item.next_fire, now)})")
        if item.paused or item.retired:
            upcoming = Text("retired" if item.retired else "paused", "yellow")
        cron = f"{item.cron} {item.timezone}"
        grid.add_row(
            clean(item.name),
            clean(cron),
            clean(item.operation),
            clean(item.tenant),
            upcoming,
            age(item.last_fire, now),
            item.origin,
        )
    console().print(grid if found else "nothing is scheduled")


def _as_dict(schedule: Schedule) -> dict[str, object]:
    value = plain(schedule)
    value["payload"] = decode(value.pop("payload_json"))
    return value


@app.command("pause")
@finds_data
def pause(name: ScheduleName, database: Database = None) -> None:
    """Holds a schedule: it misses its times until it is resumed.

    \b
    Examples:
      towpath schedules pause nightly-report
    """

    async def work() -> None:
        async with opened(database) as app:
            await app.schedules.pause(name, also=await noting(app, "schedule.pause", name))

    run(work())
    typer.echo(f"{name} is paused")


@app.command("resume")
@finds_data
def resume(name: ScheduleName, database: Database = None) -> None:
    """Lets a schedule fire again; if it missed any times, it fires once for the latest.

    \b
    Examples:
      towpath schedules resume nightly-report
    """

    async def work() -> None:
        async with opened(database) as app:
            await app.schedules.resume(name, also=await noting(app, "schedule.resume", name))

    run(work())
    typer.echo(f"{name} is open")


app.command("add")(planning.add)
app.command("remove")(planning.remove)
