"""towpath enqueue: puts one job into a queue."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from towpath.cli.auditing import note
from towpath.cli.opening import opened, run
from towpath.cli.options import AppPath, AsJson, Database, Payload, finds_data, parse_payload
from towpath.cli.records import job_as_dict
from towpath.cli.screen import say_json
from towpath.cli.words import parse_duration
from towpath.core.records import DEFAULT_PRIORITY, DEFAULT_TENANT, Job


@finds_data
def enqueue(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="The operation's name.")],
    *,
    payload: Payload = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", help="Its queue; with --app, the operation's own by default.", show_default=False),
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="On whose behalf.")] = DEFAULT_TENANT,
    priority: Annotated[int, typer.Option("--priority", min=0, max=3, help="0 comes first, 3 last.")] = DEFAULT_PRIORITY,
    delay: Annotated[
        str | None,
        typer.Option("--delay", metavar="DURATION", help="Not before this has passed: 90s, 15m.", show_default=False),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="At most one live job of this key; answers that one.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    app_path: AppPath = None,
    database: Database = None,
) -> None:
    """Adds one job and prints its id.

    Without --app the queue must be named, and the payload is not checked against the operation's type.

    \b
    Examples:
      towpath enqueue resize --payload '{"path": "a.png"}' --app shop.jobs:app
      towpath enqueue resize --payload @request.json --queue images --tenant alice --delay 10m
      towpath jobs watch $(towpath enqueue resize --payload '{"path": "a.png"}' --queue images)
    """
    if queue is None and app_path is None:
        raise typer.BadParameter("name the queue with --queue, or the app with --app: it knows the operation's queue")
    options: dict[str, Any] = {"tenant": tenant, "priority": priority, "key": key, "queue": queue}
    if delay is not None:
        options["delay"] = parse_duration(delay, "--delay").total_seconds()
    job = run(_enqueue(operation, parse_payload(payload), options, app_path, database))
    if as_json:
        say_json(job_as_dict(job))
    else:
        typer.echo(job.id)


async def _enqueue(operation: str, payload: Any, options: dict[str, Any], app_path: str | None, database: str | None) -> Job:
    async with opened(database, app_path) as app:
        made = await app.enqueue(operation, payload, **options)
        await note(app, "job.create", made.id, operation=operation, tenant=options["tenant"])
        return await app.get(made.id)
