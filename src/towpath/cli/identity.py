"""What commands about accounts share: which database they mean and how it is opened."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.data import database_url, exists, missing_database, opening, options_for, usual_database
from towpath.cli.words import program
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App
from towpath.identity import accounts
from towpath.identity.errors import AccountNotFound
from towpath.identity.records import Account
from towpath.identity.slice import SLICE
from towpath.store.private import make_folder

UserName = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]


@asynccontextmanager
async def opened_identity(database: str | None, data: Path | None, *, make: bool = False) -> AsyncIterator[App]:
    """The database with its accounts. Only `make` creates one, or migrates one."""
    app = App(database_url(database, data) or usual_database(), migrate_on_start=make, blobs_on_start=False)
    app.add_slice(SLICE)
    if not make and not exists(app.url):
        raise missing_database(app.url)
    if make and data is not None:
        _make_private(data)
    async with opening(app):
        yield app


def _make_private(data: Path) -> None:
    """For nobody else on this machine: there will be hashes of passwords in it."""
    make_folder(data)


async def account_named(app: App, name: str) -> Account:
    try:
        return await accounts.find_by_name(app.services.store, name)
    except AccountNotFound:
        create = f"{program()} users create"
        if name == accounts.LOCAL:
            raise ConfigurationError(
                "there is no account 'local' here, which towpath up makes; name another one with --user, "
                f"or make one: {create} NAME{options_for(app.url)}"
            ) from None
        remedy = f"{create} {shlex.quote(name)}{options_for(app.url)}"
        raise ConfigurationError(f"there is no account {name!r}; make it first: {remedy}") from None
