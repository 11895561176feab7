"""What commands about accounts share: which database they mean, how it is opened, and their lines in the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from towpath.cli.data import database_in
from towpath.cli.opening import exists
from towpath.config import sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App
from towpath.http import accounts, audit
from towpath.http.errors import AccountNotFound
from towpath.http.facts import Facts, Note
from towpath.http.identity import SLICE
from towpath.http.records import Account

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="The data directory of towpath up; instead of --database.", show_default=False
    ),
]  # fmt: skip
UserName = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]


def database_url(database: str | None, data: Path | None) -> str | None:
    if data is not None and database is not None:
        raise typer.BadParameter("--data and --database name two databases; give one of them", param_hint="--data")
    return database if data is None else database_in(data)


@asynccontextmanager
async def opened_identity(database: str | None, data: Path | None, *, make: bool = False) -> AsyncIterator[App]:
    """The database with its accounts. Only `make` creates one, or migrates one."""
    app = App(database_url(database, data), migrate_on_start=make, blobs_on_start=False)
    app.add_slice(SLICE)
    if not make and not exists(app.url):
        raise ConfigurationError(
            f"there is no database at {sqlite_path(app.url)}; towpath up makes one, and so does towpath users create"
        )
    if make and data is not None:
        _make_private(data)
    async with app:
        yield app


def _make_private(data: Path) -> None:
    """For nobody else on this machine: there will be hashes of passwords in it."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)


async def account_named(app: App, name: str) -> Account:
    try:
        return await accounts.find_by_name(app.services.store, name)
    except AccountNotFound:
        if name == accounts.LOCAL:
            raise ConfigurationError(
                "there is no account 'local' here, which towpath up makes; name another one with --user, "
                "or make one: towpath users create NAME"
            ) from None
        raise ConfigurationError(f"there is no account {name!r}; make it first: towpath users create {name}") from None


async def note(app: App, action: str, target: str, **details: Any) -> None:
    """A line in the audit log: whoever can run commands on the database needs no account."""
    await audit.write(app.services.store, Facts(), [Note(action, target, via="cli", details=details or None)])
