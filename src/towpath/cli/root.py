"""The command tree, and what holds for every command: version, debugging, how errors are told."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from towpath.cli import (
    backup,
    batch,
    demos,
    doctor,
    documents,
    enqueue,
    examples,
    explain,
    fleet,
    inbox,
    ingest,
    jobs,
    limits,
    login_link,
    mcp,
    migrate,
    models,
    prune,
    queues,
    schedules,
    search,
    serve,
    settings,
    token,
    transcribe,
    up,
    users,
    versions,
    watch,
    worker,
    workers,
)
from towpath.cli.failing import plain_errors


class Root(TyperGroup):
    """Tells an expected error in one line, whichever command raised it."""

    def invoke(self, ctx: Any) -> Any:
        with plain_errors(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


app = typer.Typer(
    name="towpath",
    cls=Root,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        versions.version()
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error instead of one line.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Towpath: durable, fair jobs on SQLite or PostgreSQL.

    Commands find the database through --data, --database or TOWPATH_DATABASE_URL; without any of them it is ./towpath.db,
    or that of ./towpath-data, where towpath up keeps everything. Start with: towpath up
    """


_SPEECH = "Turn speech into text"
_READ = "Read documents and find what is in them"
_MANY = "Ask models many things at once"
_RUN, _LOOK, _TEND = "Run jobs", "Look at jobs and move them", "Look after the installation"
_LET_IN = "Let people and programs in"

app.command("up", rich_help_panel=_RUN)(up.up)
app.command("serve", rich_help_panel=_RUN)(serve.serve)
app.command("worker", rich_help_panel=_RUN)(worker.worker)
app.add_typer(fleet.app, name="fleet", rich_help_panel=_RUN)
app.command("enqueue", rich_help_panel=_RUN)(enqueue.enqueue)
app.command("transcribe", rich_help_panel=_SPEECH)(transcribe.transcribe)
app.command("watch", rich_help_panel=_SPEECH)(watch.watch)
app.command("ingest", rich_help_panel=_READ)(ingest.ingest)
app.command("search", rich_help_panel=_READ)(search.search)
app.add_typer(documents.app, name="documents", rich_help_panel=_READ)
app.command("mcp", rich_help_panel=_LET_IN)(mcp.mcp)
app.add_typer(batch.app, name="batch", rich_help_panel=_MANY)
app.add_typer(demos.app, name="demo", rich_help_panel=_MANY)
app.add_typer(jobs.app, name="jobs", rich_help_panel=_LOOK)
app.command("explain", rich_help_panel=_LOOK)(explain.explain)
app.add_typer(inbox.app, name="inbox", rich_help_panel=_LOOK)
app.add_typer(queues.app, name="queues", rich_help_panel=_LOOK)
app.command("workers", rich_help_panel=_LOOK)(workers.workers)
app.add_typer(schedules.app, name="schedules", rich_help_panel=_LOOK)
app.add_typer(limits.app, name="limits", rich_help_panel=_LOOK)
app.command("login-link", rich_help_panel=_LET_IN)(login_link.login_link)
app.add_typer(users.app, name="users", rich_help_panel=_LET_IN)
app.add_typer(token.app, name="token", rich_help_panel=_LET_IN)
app.command("doctor", rich_help_panel=_TEND)(doctor.doctor)
app.command("migrate", rich_help_panel=_TEND)(migrate.migrate)
app.add_typer(models.app, name="models", rich_help_panel=_TEND)
app.command("prune", rich_help_panel=_TEND)(prune.prune)
app.command("backup", rich_help_panel=_TEND)(backup.backup)
app.add_typer(examples.app, name="example", rich_help_panel=_TEND)
app.command("config", rich_help_panel=_TEND)(settings.config)
app.command("version", rich_help_panel=_TEND)(versions.version)
