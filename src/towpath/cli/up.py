"""towpath up: everything in one process, on SQLite in one directory."""

from __future__ import annotations

import contextlib
import logging
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.data import database_in
from towpath.cli.opening import run
from towpath.cli.serve import DEFAULT_PORT, Host, Port, app_with_server, need_server_extra
from towpath.engine.app import App

_EXAMPLE = "towpath.cli.example:app"
_CONCURRENCY = 8


def up(
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="Where everything is kept; made if missing.")] = Path(
        "towpath-data"
    ),
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    app_path: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="MODULE:NAME",
            help="Your app, such as shop.jobs:app; the example by default.",
            show_default=False,
        ),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example/--no-example", help="Begin with the jobs of the example, if there are none yet.")
    ] = True,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the log-in link in a browser.")] = False,
) -> None:
    """Runs the server and a worker in one process and prints a link that logs you in.

    Jobs, accounts, stored values and the log are in DIR. It runs until Ctrl-C or SIGTERM: then jobs that run get
    TOWPATH_DRAIN_SECONDS to finish or are handed back, and a second Ctrl-C does not wait. Without --app it serves an
    example: three tenants have their documents read and packed, and a logbook is dictated slowly enough to watch.

    \b
    Examples:
      towpath up
      towpath up --app shop.jobs:app --data /var/lib/shop --port 9000
    """
    need_server_extra()
    home = data.absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    app = app_with_server(database_in(home), app_path or _EXAMPLE)
    begin = partial(_begin_example, app, home, example) if app_path is None else None
    with _log_to(home / "towpath.log"):
        run(_up(app, home, host, port, begin, open_browser))


async def _up(
    app: App, home: Path, host: str, port: int, begin: Callable[[], Awaitable[None]] | None, open_browser: bool
) -> None:
    from towpath.cli.serving import bind, front_of, serve

    with bind(host, port) as listening:
        async with app:
            api, link = await front_of(app, listening, host)
            if begin is not None:
                await begin()
            await serve(
                api,
                listening,
                on_start=partial(_started, link, home, open_browser),
                on_stop=partial(_stopping, app),
                beside=partial(app.run_worker, concurrency=_CONCURRENCY, name="towpath up"),
            )
    typer.echo("stopped")


async def _begin_example(app: App, home: Path, wanted: bool) -> None:
    from towpath.cli.example.seeding import prepare, seed

    await prepare(home)
    if wanted:
        await seed(app)


def _started(link: str, home: Path, open_browser: bool) -> None:
    typer.echo(f"Towpath is running; everything is in {home}\n\n  {link}\n\nCtrl-C stops it.")
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _stopping(app: App, again: bool) -> None:
    if not again:
        seconds = f"{app.settings.drain_seconds:g} s"
        typer.echo(f"stopping: jobs that run get {seconds} to finish; Ctrl-C again hands them back now")


@contextlib.contextmanager
def _log_to(path: Path) -> Iterator[None]:
    """The log, out of the way of what a person reads here."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()
