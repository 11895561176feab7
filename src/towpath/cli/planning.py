"""towpath schedules add and remove: for what no code declares."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from towpath.cli.auditing import noting
from towpath.cli.opening import opened, run
from towpath.cli.options import AppPath, Database, Payload, ScheduleName, finds_data, parse_payload
from towpath.cli.screen import clean
from towpath.cli.words import clock
from towpath.core.records import DEFAULT_PRIORITY, DEFAULT_TENANT, Schedule


@finds_data
def add(
    name: ScheduleName,
    cron: Annotated[str, typer.Argument(metavar="CRON", help="When, in five fields: '0 3 * * *' is every night at three.")],
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="What it enqueues.")],
    *,
    payload: Payload = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", help="Its queue; with --app, the operation's own by default.", show_default=False),
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="On whose behalf.")] = DEFAULT_TENANT,
    timezone: Annotated[str, typer.Option("--timezone", help="Whose clock CRON means, such as Europe/Berlin.")] = "UTC",
    priority: Annotated[int, typer.Option("--priority", min=0, max=3, help="0 comes first, 3 last.")] = DEFAULT_PRIORITY,
    app_path: AppPath = None,
    database: Database = None,
) -> None:
    """Makes a schedule that no code declares; it stays until it is removed.

    Without --app the queue must be named, and the payload is not checked against the operation's type.

    \b
    Examples:
      towpath schedules add nightly-report '0 3 * * *' report --queue reports
      towpath schedules add mondays '0 8 * * 1' report --payload '{"days": 7}' --timezone Europe/Berlin --app shop.jobs:app
    """
    if queue is None and app_path is None:
        raise typer.BadParameter("name the queue with --queue, or the app with --app: it knows the operation's queue")
    value = parse_payload(payload)
    plan = {"name": name, "cron": cron, "operation": operation, "payload": value, "tenant": tenant, "timezone": timezone}
    made = run(_add({**plan, "priority": priority, "queue": queue}, app_path, database))
    typer.echo(clean(f"{made.name} enqueues {made.operation} at {clock(made.next_fire)} for the first time"))


async def _add(plan: dict[str, Any], app_path: str | None, database: str | None) -> Schedule:
    told = {name: plan[name] for name in ("cron", "timezone", "operation", "tenant")}
    async with opened(database, app_path) as app:
        return await app.schedules.add(**plan, also=await noting(app, "schedule.create", plan["name"], **told))


@finds_data
def remove(name: ScheduleName, database: Database = None) -> None:
    """Removes a schedule that people have made, or that its code has left behind. Jobs it has enqueued stay.

    One that the code of a running process declares would come back with it, and is refused: pause it, or change the code.

    \b
    Examples:
      towpath schedules remove nightly-report
    """

    async def work() -> None:
        async with opened(database) as app:
            await app.schedules.remove(name, also=await noting(app, "schedule.delete", name))

    run(work())
    typer.echo(f"{clean(name)} is removed")
