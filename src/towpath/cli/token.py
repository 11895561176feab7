"""towpath token: API tokens, for scripts and other programs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.auditing import note
from towpath.cli.identity import account_named, opened_identity
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Data, Database
from towpath.cli.screen import clean, console, say_json, table
from towpath.cli.words import clock
from towpath.identity import tokens
from towpath.identity.accounts import LOCAL
from towpath.identity.errors import AccountNotFound
from towpath.identity.records import Token

app = typer.Typer(no_args_is_help=True)

_MOST = 1000


@app.callback()
def token() -> None:
    """API tokens: make, list and revoke them.

    \b
    Examples:
      towpath token create --user alice --data towpath-data
      towpath token list
    """


@app.command("create")
def create(  # noqa: PLR0917  (the command's options)
    user: Annotated[str, typer.Option("--user", help="Whose it is; local is the account of local mode.")] = LOCAL,
    name: Annotated[str, typer.Option("--name", help="What it is for.")] = "command line",
    scopes: Annotated[
        str | None,
        typer.Option("--scopes", help="Of read, write, priority, admin; without it, all it may do.", show_default=False),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="The tenant it acts for; without it, the account's first.", show_default=False),
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", help="Until it expires; never if left out.", show_default=False)
    ] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Makes a token and prints it, as the last word. It is shown this once; only its hash is kept.

    \b
    Examples:
      towpath token create --user alice --data towpath-data
      towpath token create --user alice --name nightly --scopes read,write --days 90
    """
    secret, made = run(_create(user, name, scopes, tenant, days, data, database))
    until = f"until {clock(made.expires_at)}" if made.expires_at else "until it is revoked"
    typer.echo(clean(f"a token of {made.account} for tenant {made.tenant} ({' '.join(made.scopes)}), {until}:"))
    typer.echo(secret)


async def _create(  # noqa: PLR0917  (the command's options)
    user: str,
    name: str,
    scopes: str | None,
    tenant: str | None,
    days: float | None,
    data: Path | None,
    database: str | None,
) -> tuple[str, Token]:
    asked = None if scopes is None else scopes.replace(",", " ").split()
    async with opened_identity(database, data) as app:
        account = await account_named(app, user)
        secret, made = await tokens.create(
            app.services.store, account, name=name, tenant=tenant, scopes=asked, days=days
        )  # fmt: skip
        await note(app, "token.create", made.id, name=made.name, account=account.name, scopes=list(made.scopes))
        return secret, made


@app.command("list")
def list_tokens(as_json: AsJson = False, data: Data = None, database: Database = None) -> None:
    """Lists all tokens; of each only how it begins.

    \b
    Examples:
      towpath token list --data towpath-data
    """
    found = run(_list(data, database))
    if as_json:
        times = ("created_at", "expires_at", "last_used_at")
        say_json([asdict(item) | {name: _iso(item, name) for name in times} for item in found])
        return
    grid = table("id", "name", "account", "tenant", "scopes", "begins with", "expires", "last used")
    for item in found:
        words = [item.id, item.name, item.account, item.tenant, " ".join(item.scopes), f"{item.prefix}…"]
        grid.add_row(*map(clean, words), clock(item.expires_at), clock(item.last_used_at))
    console().print(grid if found else "there are no tokens")


def _iso(item: Token, name: str) -> str | None:
    value = getattr(item, name)
    return None if value is None else value.isoformat()


async def _list(data: Path | None, database: str | None) -> list[Token]:
    async with opened_identity(database, data) as app:
        return await tokens.page(app.services.store, limit=_MOST)


@app.command("revoke")
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, or how it begins: tow_…")],
    data: Data = None,
    database: Database = None,
) -> None:
    """Ends a token at once.

    \b
    Examples:
      towpath token revoke tow_1a2b3c4d --data towpath-data
    """
    name = run(_revoke(token_id, data, database))
    typer.echo(clean(f"the token {name!r} is revoked"))


async def _revoke(token_id: str, data: Path | None, database: str | None) -> str:
    async with opened_identity(database, data) as app:
        found = await tokens.page(app.services.store, limit=_MOST)
        meant = [item.id for item in found if token_id == item.id or token_id.startswith(item.prefix)]
        if len(meant) != 1:
            raise AccountNotFound("there is no such token; towpath token list shows those there are")
        name = await tokens.revoke(app.services.store, meant[0])
        await note(app, "token.revoke", meant[0], name=name)
        return name
