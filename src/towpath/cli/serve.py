"""towpath serve: the server alone; workers run elsewhere."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

import typer

from towpath import config
from towpath.cli.data import usual_database
from towpath.cli.masking import masked
from towpath.cli.options import Database, finds_data
from towpath.core.errors import ConfigurationError
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
            help="Your app, such as shop.jobs:app; without it jobs can be looked at and moved, but not made.",
            show_default=False,
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    database: Database = None,
) -> None:
    """Runs the server without a worker, until SIGTERM or Ctrl-C.

    Several of them may run behind a load balancer on one PostgreSQL database. On an address that others can reach, people
    log in with passwords: make an account first. The log goes to standard error, as for a worker.

    \b
    Examples:
      towpath serve --app shop.jobs:app --database postgresql://localhost/shop
      towpath users create alice --admin && towpath serve --app shop.jobs:app --host 0.0.0.0
    """
    from towpath.cli.logs import set_up_logs

    need_server_extra()
    app = app_with_server(database, app_path)
    set_up_logs(config.load())
    log.info("towpath %s on %s", __version__, masked(app.url))
    asyncio.run(_serve(app, host, port))


def need_server_extra() -> None:
    """The server's parts are an extra: a worker needs none of them."""
    try:
        import fastapi  # noqa: F401  (whether it is there is all that matters)
        import uvicorn  # noqa: F401  (same)
    except ImportError as error:
        missing = f"the server needs {error.name}, which is not installed; pip install 'towpath[server]'"
        raise ConfigurationError(missing) from None


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

    with bind(host, port) as listening:
        async with app:
            front = await front_of(app, listening, host)
            with noted(app.url, front.address):
                await serve(front.api, listening, on_start=lambda: typer.echo(f"Towpath is at {front.link}"))
