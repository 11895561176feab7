"""Which database a command means, and how to say so in a hint.

`towpath up` keeps everything in a data directory, programs keep their jobs in ./towpath.db unless told otherwise. A command
that is told nothing looks in both places, so that whoever started something here finds it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import typer

from towpath import config
from towpath.cli.words import program
from towpath.config import sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.core.masking import masked
from towpath.engine.app import App

DATABASE_IN_DATA = "towpath.db"
_MIGRATE = "towpath migrate"
DATA = Path("towpath-data")
"""Where `towpath up` keeps everything if it is not told otherwise."""


def database_in(data: Path) -> str:
    """The URL of the database in a data directory."""
    return f"sqlite:///{data.absolute() / DATABASE_IN_DATA}"


def database_url(database: str | None, data: Path | None) -> str | None:
    """The database that --database or --data names; None if neither was given."""
    if data is not None and database is not None:
        raise typer.BadParameter("--data and --database name two databases; give one of them", param_hint="--data")
    return database if data is None else database_in(data)


def usual_database() -> str:
    """The one that is meant where none is named: what the setting says, else ./towpath.db, else that of ./towpath-data."""
    url = config.load().database_url
    if config.names_database() or exists(url) or not exists(database_in(DATA)):
        return url
    return database_in(DATA)


def exists(url: str) -> bool:
    """Whether there is a database to open; whether it answers is for the opening to say."""
    return not url.startswith("sqlite:") or sqlite_path(url).exists()


def same(one: str, other: str) -> bool:
    """Whether two URLs name one database, as far as the names can tell."""
    if one.startswith("sqlite:") and other.startswith("sqlite:"):
        return sqlite_path(one).absolute() == sqlite_path(other).absolute()
    return one == other


def options_for(url: str) -> str:
    """What a command run in this directory must be given to mean this database, with a space before it; or nothing."""
    if url.startswith("sqlite:"):
        path = sqlite_path(url).absolute()
        if path.name == DATABASE_IN_DATA and path.parent != Path.cwd():
            return f" --data {shlex.quote(str(_short(path.parent)))}"
    return "" if same(url, usual_database()) else f" --database {shlex.quote(masked(url))}"


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def how_to_find(url: str) -> str:
    """What to do where there is no database; following it never makes a second one beside the one that is meant."""
    name_it = "name it with --data DIR, --database URL or TOWPATH_DATABASE_URL"
    if not config.names_database() and same(url, config.DEFAULT_DATABASE_URL):
        return f"{name_it}, or begin with: {program()} up"
    if sqlite_path(url).name == DATABASE_IN_DATA:
        return f"{name_it}, or make a new one: {program()} up{options_for(url)}"
    return f"{name_it}, or make a new one: {program()} migrate{options_for(url)}"


@asynccontextmanager
async def opening(app: App) -> AsyncIterator[None]:
    """The app, open. Where it lacks migrations, the command that brings them is told for this database and no other."""
    try:
        await app.__aenter__()
    except ConfigurationError as error:
        message, hint, rest = str(error).rpartition(_MIGRATE)
        if hint and not rest:
            raise ConfigurationError(f"{message}{program()} migrate{options_for(app.url)}") from error
        raise
    try:
        yield
    finally:
        await app.__aexit__(*sys.exc_info())


def missing_database(url: str) -> ConfigurationError:
    place = str(_short(sqlite_path(url).absolute()))
    if not config.names_database() and same(url, config.DEFAULT_DATABASE_URL):
        place += f", and none in {DATA}"
    return ConfigurationError(f"there is no database at {place}; {how_to_find(url)}")
