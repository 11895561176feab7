"""A database with the tables of the fleet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from towpath import fleet
from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.engine.app import App

TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task's id.")]
WorkerId = Annotated[str, typer.Argument(metavar="ID", help="The worker's id, see towpath fleet workers.")]


@asynccontextmanager
async def opened_fleet(database: str | None, *, writes: bool = False) -> AsyncIterator[App]:
    """`writes`: the directory for stored values is made if it is missing."""
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=writes)
    fleet.attach(app)
    if not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        yield app
