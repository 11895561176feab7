"""towpath example: away with the jobs that towpath up begins with."""

from __future__ import annotations

import typer

from towpath.cli.auditing import note
from towpath.cli.opening import opened, run
from towpath.cli.options import Database, finds_data
from towpath.cli.words import jobs
from towpath.core.errors import ConfigurationError
from towpath.engine import example

app = typer.Typer(no_args_is_help=True, help="The example that towpath up begins with: away with it.")


@app.command("remove")
@finds_data
def remove(database: Database = None) -> None:
    """Removes the jobs of the example with their schedules, files and part of the statistics; nothing else.

    It does not come back: towpath up begins with it only where there has never been a database.

    \b
    Examples:
      towpath example remove
      towpath example remove --data towpath-data
    """
    done = run(_remove(database))
    typer.echo(f"{jobs(done.jobs)} of the example removed, and {done.schedules} of its schedules")


async def _remove(database: str | None) -> example.Cleared:
    async with opened(database) as app:
        done = await example.remove(app)
        await note(app, "example.remove", None, jobs=done.jobs, schedules=done.schedules)
        if done.left:
            raise ConfigurationError(f"{jobs(done.left)} of the example are still being stopped; run this again in a moment")
        return done
