"""towpath worker: a process that runs jobs until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Annotated

import typer

from towpath import config
from towpath.cli.data import usual_database
from towpath.cli.extras import need
from towpath.cli.opening import app_for
from towpath.cli.options import Database, finds_data
from towpath.cli.patience import opened_patiently
from towpath.core.masking import masked
from towpath.engine.app import App
from towpath.version import __version__

log = logging.getLogger("towpath.cli")


@finds_data
def worker(
    app_path: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="MODULE:NAME",
            help="Your app, such as shop.jobs:app; without it, the products alone: recordings, documents, batches.",
            show_default=False,
        ),
    ] = None,
    queues: Annotated[
        str | None,
        typer.Option(
            "--queues",
            metavar="A,B",
            help="Which queues to serve; all that the app's operations use by default.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="How many jobs to run at once.")] = 8,
    name: Annotated[
        str | None, typer.Option("--name", help="What to call it; host and process id by default.", show_default=False)
    ] = None,
    database: Database = None,
) -> None:
    """Runs jobs until SIGTERM or Ctrl-C; then running jobs get TOWPATH_DRAIN_SECONDS to finish or are handed back.

    The current directory can be imported from. The log goes to standard error, as text or, with TOWPATH_LOG_JSON=true,
    as JSON lines, from the level TOWPATH_LOG_LEVEL on. Where uvloop is installed it is used. While PostgreSQL cannot be
    reached it waits and says so.

    \b
    Examples:
      towpath worker --app shop.jobs:app
      towpath worker --database postgresql://localhost/towpath
      towpath worker --app shop.jobs:app --queues images,video --concurrency 4 --name gpu-1
    """
    from towpath.cli.logs import set_up_logs

    served = None if queues is None else [part.strip() for part in queues.split(",") if part.strip()]
    if served == []:
        raise typer.BadParameter("names no queue; write --queues a,b or leave it out", param_hint="--queues")
    if app_path is None:
        need("server")  # the products come with it
    app = _with_server_parts(App(database or usual_database()) if app_path is None else app_for(database, app_path))
    set_up_logs(config.load())
    factory, loop_name = _loop_factory()
    log.info("towpath %s on %s, with %s", __version__, masked(app.url), loop_name)
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_work(app, served, concurrency, name))


def _with_server_parts(app: App) -> App:
    """The server's own jobs, such as webhooks, are worked on like all others; where its extra is not installed, not here."""
    try:
        from towpath.server import attach
    except ImportError:
        return app
    return attach(app)


async def _work(app: App, queues: list[str] | None, concurrency: int, name: str | None) -> None:
    async with opened_patiently(app, log.warning):
        await app.run_until_signal(queues, concurrency, name)


def _loop_factory() -> tuple[Callable[[], asyncio.AbstractEventLoop], str]:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop, "asyncio"
    return uvloop.new_event_loop, "uvloop"
