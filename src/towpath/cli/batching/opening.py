"""A database with the tables of batches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from towpath import batches
from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.engine.app import App

BatchId = Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")]
OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id here, see towpath batch status.")]


@asynccontextmanager
async def opened_batches(database: str | None, *, writes: bool = False) -> AsyncIterator[App]:
    """`writes`: the directory for stored values is made if it is missing."""
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=writes)
    batches.attach(app)
    if not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        yield app
