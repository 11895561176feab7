"""towpath up: everything in one process: the example or somebody's own app."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from towpath.cli.data import DATA, database_in, exists, options_for
from towpath.cli.extras import need
from towpath.cli.opening import run
from towpath.cli.serve import DEFAULT_PORT, Host, Port
from towpath.cli.together import logged_to, open_in_browser, run_together
from towpath.cli.words import program
from towpath.engine.app import App
from towpath.store import private

if TYPE_CHECKING:
    from towpath.cli.serving import ServedApp


def up(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Where everything is kept, made if missing; towpath-data, or with --app the app's own database.",
            show_default=False,
        ),
    ] = None,
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
        bool, typer.Option("--example/--no-example", help="Begin with the jobs of the example, on the first start.")
    ] = True,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the log-in link in a browser.")] = False,
) -> None:
    """Runs the server and a worker in one process and prints a link that logs you in.

    Jobs, accounts, stored values and the log are in DIR. With --app and without --data they are in the database that the
    app names, and beside it; the first line printed says which. It runs until Ctrl-C or SIGTERM: then jobs that run get
    TOWPATH_DRAIN_SECONDS to finish or are handed back, and a second Ctrl-C does not wait. Without --app it serves an
    example: three tenants have their documents read and packed, and a logbook is dictated slowly enough to watch. What
    belongs to it has a name that begins with example, and goes with one click, or with towpath example remove.

    \b
    Examples:
      towpath up
      towpath up --app shop.jobs:app
      towpath up --app shop.jobs:app --data /var/lib/shop --port 9000
    """
    need("server", useful=("local",))
    from towpath.cli.data_places import data_place
    from towpath.cli.strangers import refuse_strangers

    first = app_path is None and not exists(database_in(data or DATA))
    place = data_place(app_path, data)
    begin = partial(_begin_example, place.app, wanted=example, first=first) if app_path is None else None
    run(refuse_strangers(place.app, host))
    private.make_folder(place.folder)  # for nobody else on this machine: there will be hashes of passwords in it
    started = partial(_started, place.where, place.app.url, open_browser)
    with logged_to(place.folder / "towpath.log"):
        run(run_together(place.app, host, port, name="towpath up", started=started, begin=begin))


async def _begin_example(app: App, *, wanted: bool, first: bool) -> None:
    """On the first start only: whoever has removed it must not meet it again."""
    from towpath.cli.example.seeding import seed
    from towpath.engine.example import remove_schedules

    if not wanted:
        await remove_schedules(app)
    elif first:
        await seed(app)


def _started(where: str, url: str, open_browser: bool, front: ServedApp) -> None:
    typer.echo(f"Towpath is running; {where}\n\n  {front.link}\n")
    if "/login?token=" in front.link:
        typer.echo(f"The link works once; another one: {program()} login-link{options_for(url)}")
    typer.echo("Ctrl-C stops it.")
    if open_browser:
        open_in_browser(front.link)
