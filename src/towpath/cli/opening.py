"""Opening the database for a command.

A command that only looks must neither create a database by mistyping its name, nor migrate one in passing, nor make a
directory for stored values wherever it happens to be run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from towpath.cli.loading import load_app
from towpath.config import sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def app_for(database: str | None, app_path: str | None = None) -> App:
    """The user's own app, or one that knows no operations: enough to look at jobs and to move them."""
    if app_path is None:
        return App(database, migrate_on_start=False, blobs_on_start=False)
    app = load_app(app_path)
    if database is not None:
        app.url = database
    return app


def exists(url: str) -> bool:
    """Whether there is a database to open; whether it answers is for the opening to say."""
    return not url.startswith("sqlite:") or sqlite_path(url).exists()


@asynccontextmanager
async def opened(database: str | None, app_path: str | None = None) -> AsyncIterator[App]:
    app = app_for(database, app_path)
    if app_path is None and not exists(app.url):
        raise ConfigurationError(
            f"there is no database at {sqlite_path(app.url)}; name it with TOWPATH_DATABASE_URL or --database, "
            f"or make a new one: towpath migrate"
        )
    async with app:
        yield app
