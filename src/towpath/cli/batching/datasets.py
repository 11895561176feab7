"""towpath batch dataset: lists of requests that are stored once and asked many times."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from towpath.batches import datasets
from towpath.batches.datasets import Given
from towpath.batches.lines import pieces_of
from towpath.batches.records import Dataset
from towpath.cli.auditing import note
from towpath.cli.batching.opening import opened_batches, readable
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, Limit, Tenant, finds_data
from towpath.cli.screen import clean, console, say_json, table
from towpath.core.errors import ConfigurationError
from towpath.core.records import DEFAULT_TENANT
from towpath.outbound.sources import is_address

app = typer.Typer(no_args_is_help=True, help="Lists of requests, stored under an id for as many batches as want them.")
Lines = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="JSON lines as towpath batch complete takes them, or {\"input\": …} for transcriptions. "
        "A file here, or an address that begins with https://, s3://, gs:// or az://.",
    ),
]  # fmt: skip


@app.command("add")
@finds_data
def add(
    file: Lines,
    *,
    name: Annotated[str | None, typer.Option("--name", help="What it is called in lists.", show_default=False)] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose it is.")] = DEFAULT_TENANT,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Stores a list and prints its id, for --dataset of batches. What does not fit is told by each batch, line by line.

    \b
    Examples:
      towpath batch dataset add questions.jsonl
      towpath batch complete --dataset ID --provider OPENAI --model gpt-5-mini
    """
    path = None if is_address(file) else readable(file)
    given = Given(uri=file) if path is None else Given(lines=pieces_of(path))

    async def work() -> Dataset:
        async with opened_batches(database, writes=True) as opened:
            made = await datasets.create(opened, tenant, given, name or (path.name if path is not None else None))
            await note(opened, "dataset.create", made.id, tenant=tenant)
            return made

    made = run(work())
    if as_json:
        say_json(_as_dict(made))
    else:
        console().print(made.id)


@app.command("list")
@finds_data
def list_datasets(*, tenant: Tenant = None, limit: Limit = 20, as_json: AsJson = False, database: Database = None) -> None:
    """Lists datasets, newest first: those that were added, and those that came with a batch.

    \b
    Examples:
      towpath batch dataset list
    """

    async def work() -> list[Dataset]:
        async with opened_batches(database) as opened:
            return await datasets.page(opened, tenant, before=None, limit=limit)

    found = run(work())
    if as_json:
        say_json([_as_dict(one) for one in found])
        return
    console().print(_table(found) if found else "there are no datasets")


@app.command("remove")
@finds_data
def remove(
    dataset_id: Annotated[str, typer.Argument(metavar="ID", help="The dataset's id.")], database: Database = None
) -> None:
    """Deletes a dataset. Refused while a batch names it.

    \b
    Examples:
      towpath batch dataset remove ID
    """

    async def work() -> None:
        async with opened_batches(database, writes=True) as opened:
            found = await datasets.find(opened, dataset_id.lower())
            try:
                await datasets.remove(opened, found)
            except datasets.DatasetInUse as error:
                raise ConfigurationError(str(error)) from None
            await note(opened, "dataset.delete", found.id, tenant=found.tenant)

    run(work())
    console().print("removed")


def _table(found: list[Dataset]) -> Table:
    grid = table("id", "tenant", "name", "from", "came with")
    for one in found:
        origin = one.source or ("an uploaded file" if one.asset_id else "")
        grid.add_row(one.id, clean(one.tenant), clean(one.name), clean(origin), one.batch_id or "")
    return grid


def _as_dict(one: Dataset) -> dict[str, Any]:
    same = ("id", "name", "tenant", "asset_id", "source", "batch_id")
    return {name: getattr(one, name) for name in same} | {"created_at": one.created_at.isoformat()}
