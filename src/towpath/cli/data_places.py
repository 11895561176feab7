"""Where `towpath up` keeps things: in a data directory, or where the app keeps its jobs.

The server, the commands and the app's own programs must mean one database, or jobs are enqueued that no worker sees. So an
app's own database is used unless --data says otherwise, and what is used is said, with the reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from towpath import config
from towpath.cli.data import DATA, database_in, exists, options_for, same
from towpath.cli.loading import load_app
from towpath.cli.serve import app_with_server
from towpath.core.masking import masked
from towpath.engine.app import App

_EXAMPLE = "towpath.cli.example:app"


class DataPlace(NamedTuple):
    app: App
    folder: Path
    """For the log, and what the example needs; it is made when nothing speaks against a start any more."""
    where: str
    """What is used and why, for people."""


def data_place(app_path: str | None, data: Path | None) -> DataPlace:
    if app_path is None:
        folder = (data or DATA).absolute()
        return DataPlace(app_with_server(database_in(folder), _EXAMPLE), folder, _of_the_example(folder))
    own = load_app(app_path).url
    if data is not None:
        folder = data.absolute()
        return DataPlace(app_with_server(database_in(folder), app_path), folder, _as_data_says(folder, own, app_path))
    folder = (config.sqlite_path(own).parent if own.startswith("sqlite:") else DATA).absolute()
    return DataPlace(app_with_server(None, app_path), folder, _as_the_app_says(own, app_path))


def _of_the_example(folder: Path) -> str:
    said = f"everything is in {folder}"
    if config.names_database() and not same(config.load().database_url, database_in(folder)):
        said += f"; TOWPATH_DATABASE_URL is for apps: give commands{options_for(database_in(folder))}"
    return said


def _as_data_says(folder: Path, own: str, app_path: str) -> str:
    said = f"everything is in {folder}, as --data says"
    url = database_in(folder)
    if same(own, url):
        return said
    return (
        f"{said}; {app_path} itself names {masked(own)}: give other commands{options_for(url)} too, "
        f"or start this one without --data"
    )


def _as_the_app_says(own: str, app_path: str) -> str:
    said = f"the database is {masked(own)}, "
    if config.names_database() and own == config.load().database_url:
        return f"{said}as TOWPATH_DATABASE_URL says"
    if own != config.DEFAULT_DATABASE_URL:
        without = f"; commands without --app find it with{options_for(own)}" if options_for(own) else ""
        return f"{said}which {app_path} names{without}"
    other = f"; the one in {DATA} is not used, --data {DATA} would" if exists(database_in(DATA)) else ""
    return f"{said}the default of {app_path}{other}"
