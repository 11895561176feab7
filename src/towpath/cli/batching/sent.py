"""What is said of a batch that was sent."""

from __future__ import annotations

import typer

from towpath.cli.batching import watching
from towpath.cli.opening import run
from towpath.cli.screen import console, say_json


def tell_sent(batch_id: str, job_id: str, database: str | None, *, as_json: bool, wait: bool) -> None:
    """Its id, or how it goes on until it has ended; then that is the exit code."""
    if as_json:
        say_json({"id": batch_id, "job_id": job_id, "status": "PENDING"})
    elif not wait:
        console().print(batch_id)
    if wait:
        raise typer.Exit(run(watching.follow(batch_id, database, quiet=as_json)))
