"""towpath backup: a copy of a SQLite database that can be opened as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.opening import opened, run
from towpath.cli.options import Database, finds_data
from towpath.cli.words import size
from towpath.engine.backup import Backup


@finds_data
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; it must not exist yet.")],
    database: Database = None,
) -> None:
    """Copies a SQLite database and its stored values while everything goes on.

    The copy can be opened as it is: TOWPATH_DATABASE_URL=sqlite:///FILE. PostgreSQL is backed up with its own means.

    \b
    Examples:
      towpath backup /backups/jobs-monday.db
    """
    made = run(_backup(file, database))
    typer.echo(f"{made.database}: {size(made.bytes)}")
    if made.blob_count:
        typer.echo(f"{made.blobs}: {made.blob_count:,} stored values")


async def _backup(file: Path, database: str | None) -> Backup:
    async with opened(database) as app:
        return await app.backup(file)
