"""towpath inbox: what failed for good, grouped by cause, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from towpath.cli.auditing import note
from towpath.cli.failing import REFUSED
from towpath.cli.jobs import show_page
from towpath.cli.opening import opened, run
from towpath.cli.options import (
    AppPath,
    AsJson,
    Database,
    KeepSteps,
    Limit,
    Operation,
    Payload,
    Tenant,
    finds_data,
    parse_new_payload,
)
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, one_line, say_json
from towpath.cli.words import age, jobs
from towpath.core.naming import folded
from towpath.core.records import Job
from towpath.engine.app import App

app = typer.Typer()

Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        callback=lambda text: text and folded(text),
        help="Only this kind of error, such as fatal or timeout.",
        show_default=False,
    ),
]
Message = Annotated[
    str | None, typer.Option("--message", help="Only this message, as the groups show it.", show_default=False)
]


@app.callback(invoke_without_command=True)
@finds_data
def groups(
    ctx: typer.Context,
    tenant: Tenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Shows what failed for good, grouped by operation, kind and message, with what to do about it.

    Only leaves are listed: a parent that failed because of its children comes back when they do.

    \b
    Examples:
      towpath inbox
      towpath inbox list --operation resize
      towpath inbox requeue --operation resize --kind timeout
    """
    if ctx.invoked_subcommand is None:
        run(_groups(tenant, limit, as_json, database))


async def _groups(tenant: str | None, limit: int, as_json: bool, database: str | None) -> None:
    async with opened(database) as app:
        found = await app.inbox.groups(tenant=tenant, limit=limit)
        remedies = [(await app.get(group.example)).error or {} for group in found]
        now = await app.now()
    if as_json:
        say_json([plain(group) | {"remedy": error.get("remedy")} for group, error in zip(found, remedies, strict=True)])
        return
    screen = console()
    if not found:
        screen.print("the inbox is empty", style="green")
    for group, error in zip(found, remedies, strict=True):
        screen.print(Text.assemble((f"{jobs(group.jobs)} of {clean(group.operation)}", "bold"), f"  {clean(group.kind)}"))
        screen.print(Text(f"  {one_line(group.message)}", "red"))
        if error.get("remedy"):
            screen.print(f"  what to do: {one_line(error['remedy'])}")
        screen.print(f"  last {age(group.last_at, now)}, for example {group.example}\n", style="dim")


@app.command("list")
@finds_data
def list_failed(
    *,
    operation: Operation = None,
    kind: Kind = None,
    message: Message = None,
    tenant: Tenant = None,
    after: Annotated[
        str | None,
        typer.Option("--after", metavar="ID", help="Go on after this id, the last of a page.", show_default=False),
    ] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Lists the failed jobs themselves, oldest first.

    \b
    Examples:
      towpath inbox list --operation resize --kind timeout
      towpath inbox list --tenant alice --json
    """

    async def ask(app: App) -> Sequence[Job]:
        return await app.inbox.jobs(operation=operation, kind=kind, message=message, tenant=tenant, after=after, limit=limit)

    run(show_page(ask, limit, as_json, database, nothing="nothing in the inbox matches", more="--after"))


@app.command("requeue")
@finds_data
def requeue(
    *,
    job_ids: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="ID", help="This job; may be given several times.", show_default=False),
    ] = None,
    operation: Operation = None,
    kind: Kind = None,
    message: Message = None,
    tenant: Tenant = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything in the inbox.")] = False,
    payload: Payload = None,
    keep_steps: KeepSteps = False,
    app_path: AppPath = None,
    database: Database = None,
) -> None:
    """Gives failed jobs a fresh start: those named, those that match, or all. The old error stays in their events.

    With --payload every one of them gets the new payload; --app checks it against the operation's type.

    \b
    Examples:
      towpath inbox requeue --operation resize --kind timeout
      towpath inbox requeue --id ID --payload '{"page": 1}'
      towpath inbox requeue --all
    """
    filters = {"operation": operation, "kind": kind, "message": message, "tenant": tenant}
    given = {name: value for name, value in filters.items() if value is not None}
    if sum((bool(job_ids), bool(given), everything)) != 1:
        raise typer.BadParameter("say which jobs: --id, or a filter (--operation, --kind, --message, --tenant), or --all")
    moves = {"payload": parse_new_payload(payload), "keep_steps": keep_steps} | given
    run(_requeue(job_ids or None, moves, app_path, database))


async def _requeue(ids: list[str] | None, moves: dict[str, Any], app_path: str | None, database: str | None) -> None:
    async with opened(database, app_path) as app:
        outcome = await app.inbox.requeue(ids, **moves)
        if outcome.requeued:
            asked = {name: value for name, value in moves.items() if name not in ("payload", "keep_steps")}
            await note(app, "inbox.requeue", jobs=outcome.requeued, edited=moves["payload"] is not None, **asked)
    typer.echo(f"{jobs(outcome.requeued)} requeued")
    for job_id, why in outcome.refused.items():
        typer.echo(f"{job_id} was not requeued: {clean(why)}", err=True)
    if outcome.refused:
        raise typer.Exit(REFUSED)
