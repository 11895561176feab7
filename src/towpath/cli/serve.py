"""towpath serve: the server alone; workers run elsewhere."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

import typer

from towpath import config
from towpath.cli.data import usual_database
from towpath.cli.extras import need
from towpath.cli.options import Database, finds_data
from towpath.cli.patience import opened_patiently
from towpath.core.masking import masked
from towpath.engine.app import App
from towpath.version import __version__

log = logging.getLogger("towpath.cli")

DEFAULT_PORT = 8642
Host = Annotated[str, typer.Option("--host", help="The address to listen on; any but loopback needs an account first.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0 takes a free one.")]


@finds_data
def serve(
    app_path: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="MODULE:NAME",
            help="Your app, such as shop.jobs:app; without it, the products alone: recordings, documents, batches.",
            show_default=False,
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    database: Database = None,
) -> None:
    """Runs the server without a worker, until SIGTERM or Ctrl-C.

    Several of them may run behind a load balancer on one PostgreSQL database. On an address that others can reach, people
    log in with passwords: make an account first. The log goes to standard error, as for a worker. While PostgreSQL cannot
    be reached it waits and says so.

    \b
    Examples:
      towpath serve --app shop.jobs:app --database postgresql://localhost/shop
      towpath users create alice --admin && towpath serve --app shop.jobs:app --host 0.0.0.0
    """
    from towpath.cli.logs import set_up_logs

    need("server")
    app = app_with_server(database, app_path)
    set_up_logs(config.load())
    log.info("towpath %s on %s", __version__, masked(app.url))
    asyncio.run(_serve(app, host, port))


def app_with_server(database: str | None, app_path: str | None) -> App:
    """The user's app, or one that knows no operations; either with what a server needs."""
    from towpath.cli.loading import load_app
    from towpath.server import attach

    app = App(database or usual_database()) if app_path is None else load_app(app_path)
    if database is not None:
        app.url = database
    return attach(app)


async def _serve(app: App, host: str, port: int) -> None:
    from towpath.cli.addresses import noted
    from towpath.cli.serving import bind, front_of, serve
    from towpath.cli.strangers import refuse_strangers

    with bind(host, port) as listening:
        await refuse_strangers(app, host)
        async with opened_patiently(app, log.warning):
            front = await front_of(app, listening, host)
            with noted(app.url, front.address):
                await serve(front.api, listening, on_start=lambda: typer.echo(f"Towpath is at {front.link}"))
