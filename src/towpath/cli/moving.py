"""towpath jobs cancel, retry, delete. Each takes several ids, does what it can, and says what it could not do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from towpath.cli.auditing import note
from towpath.cli.failing import REFUSED, tell
from towpath.cli.naming import job_named
from towpath.cli.opening import opened, run
from towpath.cli.options import (
    AppPath,
    Database,
    JobIds,
    KeepSteps,
    Payload,
    WholeJobIds,
    finds_data,
    parse_new_payload,
)
from towpath.cli.words import jobs
from towpath.core.errors import ConfigurationError, JobNotFound, NotRequeueable
from towpath.engine.app import App

Move = Callable[[App, str], Awaitable[str]]


@finds_data
def cancel(
    job_ids: JobIds,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is kept with the job.", show_default=False)] = None,
    database: Database = None,
) -> None:
    """Cancels jobs with all their children, wherever they are.

    A running handler is interrupted. Exit code 2 if one had ended already.

    \b
    Examples:
      towpath jobs cancel ID
      towpath jobs cancel $(towpath jobs list --state queued --tenant bob --json | jq -r '.[].id')
    """

    async def one(app: App, job_id: str) -> str:
        found = await job_named(app, job_id)
        if not await app.cancel(found, reason):
            raise NotRequeueable(f"job {found} had ended already")
        await note(app, "job.cancel", found, reason=reason)
        return f"{found} cancelled"

    run(_each(job_ids, one, database))


@finds_data
def retry(
    job_ids: JobIds,
    payload: Payload = None,
    keep_steps: KeepSteps = False,
    app_path: AppPath = None,
    database: Database = None,
) -> None:
    """Gives failed, partial or cancelled jobs a fresh start.

    Steps that were done are not done again, unless the payload is new. Exit code 2 if one could not be requeued.

    \b
    Examples:
      towpath jobs retry ID
      towpath jobs retry ID --payload '{"page": 1}' --app shop.jobs:app
    """
    edited = parse_new_payload(payload)

    async def one(app: App, job_id: str) -> str:
        found = await job_named(app, job_id)
        await app.requeue(found, payload=edited, keep_steps=keep_steps)
        await note(app, "job.retry", found, edited=edited is not None)
        return f"{found} requeued"

    run(_each(job_ids, one, database, app_path))


@finds_data
def delete(job_ids: WholeJobIds, database: Database = None) -> None:
    """Removes ended jobs with their children, events and stored values, for good.

    Only whole trees go: name the topmost job. Exit code 2 if one could not be deleted.

    \b
    Examples:
      towpath jobs delete ID
    """

    async def one(app: App, job_id: str) -> str:
        gone = await app.delete(job_id)
        await note(app, "job.delete", job_id, jobs=gone)
        return f"{job_id} deleted, {jobs(gone)} in all"

    run(_each(job_ids, one, database))


async def _each(job_ids: list[str], move: Move, database: str | None, app_path: str | None = None) -> None:
    refused = False
    async with opened(database, app_path) as app:
        for job_id in job_ids:
            try:
                typer.echo(await move(app, job_id))
            except (ConfigurationError, JobNotFound, NotRequeueable) as error:
                refused = True
                tell(error)
    if refused:
        raise typer.Exit(REFUSED)
