"""A database with the tables of batches."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from towpath import batches
from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.cli.screen import clean
from towpath.engine.app import App

BatchId = Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")]
OrderId = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id here, see towpath batch status.")]

DatasetIds = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", metavar="ID", help="A dataset instead, see towpath batch dataset; several, one after the other.",
        show_default=False,
    ),
]  # fmt: skip


def readable(file: str, param_hint: str = "FILE") -> Path:
    path = Path(file)
    if not path.is_file() or not os.access(path, os.R_OK):
        raise typer.BadParameter(f"there is no file {clean(file)} that can be read", param_hint=param_hint)
    return path


@asynccontextmanager
async def opened_batches(database: str | None, *, writes: bool = False) -> AsyncIterator[App]:
    """`writes`: the directory for stored values is made if it is missing."""
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=writes)
    batches.attach(app)
    if not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        yield app
