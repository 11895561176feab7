"""towpath fleet: the group."""

from __future__ import annotations

import typer

from towpath.cli.fleeting import letting_in, orchestrating, tasks, working

app = typer.Typer(
    no_args_is_help=True,
    help="Objects come in from buckets, and workers anywhere work on them: orchestrate, worker, tasks, workers.",
)
app.command("orchestrate")(orchestrating.orchestrate)
app.command("worker")(working.worker)
app.command("tasks")(tasks.tasks)
app.command("status")(tasks.status)
app.command("cancel")(tasks.cancel)
app.command("retry")(tasks.retry)
app.command("workers")(letting_in.workers)
app.command("worker-add")(letting_in.worker_add)
app.command("worker-revoke")(letting_in.worker_revoke)
