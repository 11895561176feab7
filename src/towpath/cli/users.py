"""towpath users: the accounts of a server."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from towpath.cli.auditing import note
from towpath.cli.identity import UserName, account_named, opened_identity
from towpath.cli.login_link import BaseUrl, base_url_for
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Data, Database
from towpath.cli.screen import clean, console, say_json, table
from towpath.cli.words import clock
from towpath.core.errors import ConfigurationError
from towpath.core.records import DEFAULT_TENANT
from towpath.engine.app import App
from towpath.identity import accounts, links, logging_in, passwords, tokens
from towpath.identity.accounts import LOCAL
from towpath.identity.records import Account

app = typer.Typer(no_args_is_help=True)

_MOST = 10_000
Work: TypeAlias = Callable[[App, Account], Awaitable[None]]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]


@app.callback()
def users() -> None:
    """Accounts: make them, give them passwords and tenants, disable them.

    \b
    Examples:
      towpath users create alice --admin --data towpath-data
      towpath users list
    """


@app.command("create")
def create(
    name: UserName,
    tenant: Annotated[
        list[str] | None,
        typer.Option("--tenant", help="A tenant it belongs to, or several; without it, default.", show_default=False),
    ] = None,
    admin: Annotated[bool, typer.Option("--admin", help="Sees all tenants and looks after the server.")] = False,
    password_stdin: FromStdin = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Makes an account, and the database if there is none. On a terminal it asks for the password.

    Without a password nobody can log in yet: `towpath users reset-link` prints a link to choose one by.

    \b
    Examples:
      towpath users create alice --admin
      towpath users create bob --tenant acme --tenant globex --data towpath-data
      pass show bob | towpath users create bob --password-stdin
    """
    if accounts.name_key(name) == LOCAL:
        raise ConfigurationError("the name 'local' is kept for local mode; choose another one")
    accounts.check_account_name(name)
    password = _password(name, password_stdin, needed=False)
    made = run(_create(name, tenant or [DEFAULT_TENANT], admin, password, data, database))
    typer.echo(clean(f"{made.name} is there, in {', '.join(made.tenants)}{', an administrator' if admin else ''}"))
    if password is None:
        typer.echo(clean(f"it has no password yet; a link to choose one: towpath users reset-link {made.name}"))


async def _create(
    name: str, tenants: list[str], admin: bool, password: str | None, data: Path | None, database: str | None
) -> Account:
    async with opened_identity(database, data, make=True) as app:
        hashed = None if password is None else await passwords.hashed(password)
        made = await accounts.create(app.services.store, name, tenants=tenants, admin=admin, password=hashed)
        await note(app, "user.create", made.id, name=made.name, admin=admin, tenants=list(made.tenants))
        return made


def _password(name: str, from_stdin: bool, *, needed: bool) -> str | None:
    """Never an argument: those are in the shell's history, and in everybody's list of processes."""
    if from_stdin:
        given = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        given = typer.prompt("password", hide_input=True, confirmation_prompt=True)
    elif needed:
        raise ConfigurationError("there is no terminal to ask for the password on; pipe it in with --password-stdin")
    else:
        return None
    return passwords.check(given, name)


@app.command("list")
def list_users(as_json: AsJson = False, data: Data = None, database: Database = None) -> None:
    """Lists the accounts: their roles, their tenants, and when they were seen last.

    \b
    Examples:
      towpath users list --data towpath-data
    """
    found = run(_list(data, database))
    if as_json:
        times = ("created_at", "last_seen_at")
        say_json([asdict(item) | {name: _iso(item, name) for name in times} for item in found])
        return
    grid = table("name", "role", "tenants", "last seen", "")
    for item in found:
        remark = "disabled" if item.disabled else "" if item.has_password or item.name == LOCAL else "no password"
        words = [item.name, "admin" if item.admin else "member", ", ".join(item.tenants), clock(item.last_seen_at), remark]
        grid.add_row(*map(clean, words))
    console().print(grid if found else "there are no accounts; make one with: towpath users create")


def _iso(item: Account, name: str) -> str | None:
    value = getattr(item, name)
    return None if value is None else value.isoformat()


async def _list(data: Path | None, database: str | None) -> list[Account]:
    async with opened_identity(database, data) as app:
        return await accounts.page(app.services.store, limit=_MOST)


@app.command("disable")
def disable(
    name: UserName,
    undo: Annotated[bool, typer.Option("--undo", help="Let the account in again.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Keeps an account out: its sessions end at once, and its tokens count for nothing until this is undone.

    \b
    Examples:
      towpath users disable bob
      towpath users disable bob --undo
    """

    async def work(app: App, account: Account) -> None:
        await accounts.change(app.services.store, account.id, disabled=not undo)
        await note(app, "user.update", account.id, name=account.name, disabled=not undo)

    run(_with(name, work, data, database))
    typer.echo(clean(f"{name} {'may log in again' if undo else 'is kept out'}"))


@app.command("passwd")
def passwd(
    name: UserName,
    password_stdin: FromStdin = False,
    revoke_tokens: Annotated[
        bool | None,
        typer.Option(
            "--revoke-tokens/--keep-tokens",
            help="Whether its API tokens end too; asked on a terminal, else they are kept.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Gives an account a new password. All its sessions end, and its API tokens if you say so.

    \b
    Examples:
      towpath users passwd alice
      towpath users passwd alice --revoke-tokens
      pass show alice | towpath users passwd alice --password-stdin --data towpath-data
    """
    password = _password(name, password_stdin, needed=True)

    told: list[str] = []

    async def work(app: App, account: Account) -> None:
        _refuse_local(account)
        held = len(await tokens.page(app.services.store, account_id=account.id, limit=_MOST))
        revoke = _revoke(held, revoke_tokens)
        await logging_in.set_password(app, account.id, account.name, password or "", revoke_tokens=revoke)
        await note(app, "password.set", account.id, name=account.name, revoked=revoke)
        told.append(_about_tokens(held, revoked=revoke))

    run(_with(name, work, data, database))
    typer.echo(clean(f"{name} has a new password{told[0]}"))


def _revoke(held: int, asked: bool | None) -> bool:
    if asked is not None or not held or not sys.stdin.isatty():
        return bool(asked)
    return typer.confirm(f"revoke its API tokens too ({held})? Programs that use them stop until they get new ones")


def _about_tokens(held: int, *, revoked: bool) -> str:
    if not held:
        return ""
    many = f"{held} API token{'' if held == 1 else 's'}"
    return f"; {many} revoked" if revoked else f"; {many} still hold{'s' if held == 1 else ''}: --revoke-tokens ends them"


@app.command("reset-link")
def reset_link(name: UserName, base_url: BaseUrl = None, data: Data = None, database: Database = None) -> None:
    """Prints a link by which somebody chooses a password, once, within a day.

    \b
    Examples:
      towpath users reset-link alice --base-url https://jobs.example.com
    """
    found: list[str] = []

    async def work(app: App, account: Account) -> None:
        _refuse_local(account)
        secret, _ = await links.make(app.services.store, account.id, "reset")
        await note(app, "user.reset_link", account.id, name=account.name)
        found.append(links.url_of(base_url_for(base_url, app), "reset", secret))

    run(_with(name, work, data, database))
    typer.echo(found[0])


@app.command("add-tenant")
def add_tenant(
    name: UserName,
    tenant: Annotated[str, typer.Argument(metavar="TENANT", help="The tenant it is to belong to.")],
    data: Data = None,
    database: Database = None,
) -> None:
    """Makes an account a member of one more tenant.

    \b
    Examples:
      towpath users add-tenant bob globex
    """

    async def work(app: App, account: Account) -> None:
        await accounts.join(app.services.store, account.id, tenant)
        await note(app, "user.update", account.id, name=account.name, added=tenant)

    run(_with(name, work, data, database))
    typer.echo(clean(f"{name} belongs to {tenant}"))


def _refuse_local(account: Account) -> None:
    if account.name == LOCAL:
        raise ConfigurationError("the account 'local' never has a password; towpath login-link prints a link for it")


async def _with(name: str, work: Work, data: Path | None, database: str | None) -> None:
    async with opened_identity(database, data) as app:
        await work(app, await account_named(app, name))
