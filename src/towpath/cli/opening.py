"""Opening the database for a command.

A command that only looks must neither create a database by mistyping its name, nor migrate one in passing, nor make a
directory for stored values wherever it happens to be run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.cli.loading import load_app
from towpath.engine.app import App

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def app_for(database: str | None, app_path: str | None = None) -> App:
    """The user's own app, or one that knows no operations: enough to look at jobs and to move them."""
    if app_path is None:
        return App(database or usual_database(), migrate_on_start=False, blobs_on_start=False)
    app = load_app(app_path)
    if database is not None:
        app.url = database
    return app


@asynccontextmanager
async def opened(database: str | None, app_path: str | None = None) -> AsyncIterator[App]:
    app = app_for(database, app_path)
    if app_path is None and not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        yield app
