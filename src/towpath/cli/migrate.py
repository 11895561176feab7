"""towpath migrate: brings the database's tables up to date by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from towpath.cli.auditing import note
from towpath.cli.data import exists
from towpath.cli.opening import app_for, run
from towpath.cli.options import AppWithSlices, Database, finds_data
from towpath.core.masking import masked
from towpath.engine.app import App
from towpath.store.migrating import Migration


@finds_data
def migrate(
    app_path: AppWithSlices = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit code 1 if something is missing.")] = False,
    database: Database = None,
) -> None:
    """Creates or updates the tables. Apps do the same when they start; this is for doing it first, and apart.

    With --app the migrations of the app's own slices are applied too.

    \b
    Examples:
      towpath migrate
      towpath migrate --check --database postgresql://user@host/name
    """
    missing = run(_migrate(app_path, check, database))
    if not missing:
        typer.echo("the database is up to date")
    for migration in missing:
        typer.echo(f"{'missing' if check else 'applied'} {migration}")
    if check and missing:
        raise typer.Exit(1)


async def _migrate(app_path: str | None, check: bool, database: str | None) -> list[Migration]:
    app = _with_server_tables(app_for(database, app_path))
    if not check:
        return await _apply(app)
    if not exists(app.url):
        typer.echo(f"there is no database yet at {masked(app.url)}; without --check this makes it", err=True)
        raise typer.Exit(1)
    return await app.pending_migrations()


async def _apply(app: App) -> list[Migration]:
    applied = await app.migrate()
    if applied:
        async with app_for(app.url) as bare:  # knows no operations and declares nothing
            await note(bare, "schema.migrate", applied=[str(one) for one in applied])
    return applied


def _with_server_tables(app: App) -> App:
    """Servers and workers bring them too, so that whoever starts first finds nothing left to do."""
    try:
        from towpath.server import attach
    except ImportError:  # the server's parts are not installed
        return app
    return attach(app)
