"""towpath fleet workers, worker-add and worker-revoke: who works, and tokens for those that ask a server."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from towpath.cli.auditing import note
from towpath.cli.fleeting.opening import WorkerId, opened_fleet
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.screen import clean, console, say_json, table
from towpath.engine.app import App
from towpath.fleet import workers as tokens
from towpath.fleet.records import Worker, worker_from
from towpath.fleet.recovering import ALIVE
from towpath.http.shapes import LAST

_MOST = 1000


@finds_data
def workers(as_json: AsJson = False, database: Database = None) -> None:
    """Lists remote workers: those with a token, and those that were heard of through a queue in the last week.

    \b
    Examples:
      towpath fleet workers
      towpath fleet workers --json
    """
    found = run(_workers(database))
    if as_json:
        say_json([_as_dict(one, alive=alive) for one, alive in found])
        return
    grid = table("id", "name", "via", "alive", "busy", "version", "operations")
    for one, alive in found:
        state = "revoked" if one.revoked_at else "yes" if alive else "no"
        grid.add_row(one.id, clean(one.name), one.via, state, f"{one.busy}/{one.slots}", clean(one.version or ""),
                     clean(" ".join(one.operations)))  # fmt: skip
    console().print(grid if found else "no remote worker is known; make one: towpath fleet worker-add NAME")


async def _workers(database: str | None) -> list[tuple[Worker, bool]]:
    async with opened_fleet(database) as app:
        now = await app.now()
        rows = await app.query("fleet_workers_page", before=LAST, limit=_MOST, since=now - timedelta(days=7))
        found = [worker_from(row) for row in rows]
        return [(one, bool(not one.revoked_at and one.seen_at and one.seen_at > now - ALIVE)) for one in found]


def _as_dict(one: Worker, *, alive: bool) -> dict[str, object]:
    return {
        "id": one.id, "name": one.name, "tenant": one.tenant, "via": one.via, "alive": alive, "slots": one.slots,
        "busy": one.busy, "version": one.version, "host": one.host, "operations": one.operations,
        "seen_at": one.seen_at.isoformat() if one.seen_at else None, "revoked": one.revoked_at is not None,
    }  # fmt: skip


@finds_data
def worker_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Whose tasks it may have; everybody's by default.", show_default=False)
    ] = None,
    database: Database = None,
) -> None:
    """Lets a remote worker in and prints its token, which is shown once.

    \b
    Examples:
      towpath fleet worker-add barge-1
      TOWPATH_FLEET_TOKEN=$(towpath fleet worker-add barge-2) towpath fleet worker --server https://towpath.example
    """
    typer.echo(run(_add(name, tenant, database)))


async def _add(name: str, tenant: str | None, database: str | None) -> str:
    async with opened_fleet(database, writes=True) as app:
        new = await tokens.create(app, name, tenant, None)
        await note(app, "fleet.worker_add", new.id, name=name)
        return new.token


@finds_data
def worker_revoke(worker_id: WorkerId, database: Database = None) -> None:
    """Ends a worker's token at once. What it has under way is given to others when it is not heard of any more.

    \b
    Examples:
      towpath fleet worker-revoke ID
    """
    run(_revoke(worker_id, database))
    typer.echo("revoked")


async def _revoke(worker_id: str, database: str | None) -> None:
    async with opened_fleet(database, writes=True) as app:
        found = await tokens.worker(app, worker_id.lower())
        await _end(app, found.id)
        await note(app, "fleet.worker_revoke", found.id)


async def _end(app: App, worker_id: str) -> None:
    await app.transact(lambda tx: tokens.revoke(tx, worker_id))
