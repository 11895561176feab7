"""towpath login-link: a fresh link into the UI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.addresses import noted_address
from towpath.cli.auditing import note
from towpath.cli.identity import account_named, opened_identity
from towpath.cli.opening import run
from towpath.cli.options import Data, Database
from towpath.engine.app import App
from towpath.identity.accounts import LOCAL
from towpath.identity.local import make_login_link

DEFAULT_URL = "http://127.0.0.1:8642"
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help=f"Where the server is reached; else TOWPATH_BASE_URL, where it runs now, or {DEFAULT_URL}.",
        show_default=False,
    ),
]


def login_link(
    user: Annotated[str, typer.Option("--user", help="Who is logged in by it; local is the account of local mode.")] = LOCAL,
    base_url: BaseUrl = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Prints a link that logs somebody in, once, within a quarter of an hour.

    \b
    Examples:
      towpath login-link --data towpath-data
      towpath login-link --user alice --base-url https://jobs.example.com
    """
    typer.echo(run(_make(user, base_url, data, database)))


async def _make(user: str, base_url: str | None, data: Path | None, database: str | None) -> str:
    async with opened_identity(database, data) as app:
        account = await account_named(app, user)
        link = await make_login_link(app, base_url_for(base_url, app), account.name)
        await note(app, "user.login_link", account.id, name=account.name)
        return link


def base_url_for(given: str | None, app: App) -> str:
    """Says so if it is a guess: whoever opens the link would only see that nothing answers."""
    known = given or app.settings.base_url or noted_address(app.url)
    if known:
        return known
    usual = DEFAULT_URL + app.settings.base_path
    if app.url.startswith("sqlite:"):
        typer.echo(f"no server runs on this database: the link opens nothing until one runs at {usual}", err=True)
    else:
        typer.echo(f"where the server is reached is not known, so the link leads to {usual}: give --base-url", err=True)
    return usual
