"""towpath prune: removes old finished jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from towpath.cli.auditing import note
from towpath.cli.opening import opened, run
from towpath.cli.options import Database, Queue, finds_data
from towpath.cli.words import jobs, parse_duration


@finds_data
def prune(
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="How long ago they ended: 90s, 15m, 12h, 30d, 2w.")
    ],
    failed: Annotated[bool, typer.Option("--failed", help="Failed and partial jobs too, not only the good ones.")] = False,
    queue: Queue = None,
    database: Database = None,
) -> None:
    """Removes jobs that ended long ago, with their children, events and stored values, in small batches.

    Succeeded and cancelled jobs go; failed and partial ones only with --failed. Workers do the same by themselves where
    TOWPATH_KEEP_SUCCEEDED_DAYS and TOWPATH_KEEP_FAILED_DAYS say so.

    \b
    Examples:
      towpath prune --older-than 30d
      towpath prune --older-than 90d --failed --queue images
    """
    typer.echo(f"{jobs(run(_prune(parse_duration(older_than, '--older-than'), failed, queue, database)))} removed")


async def _prune(age: timedelta, failed: bool, queue: str | None, database: str | None) -> int:
    async with opened(database) as app:
        if queue is not None:
            await app.queues.get(queue)  # a misspelt one would look like one with nothing to remove
        gone = await app.prune(age, failed=failed, queue=queue)
        await note(app, "jobs.prune", queue, jobs=gone, older_than_seconds=age.total_seconds(), failed=failed)
        return gone
