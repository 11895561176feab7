"""A database with the tables of documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from towpath import documents
from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.engine.app import App

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="The document's id.")]
DocumentIds = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of documents.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]


@asynccontextmanager
async def opened_documents(database: str | None, *, writes: bool = False) -> AsyncIterator[App]:
    """`writes`: the directory for stored values is made if it is missing."""
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=writes)
    documents.attach(app)
    if not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        yield app
