"""towpath batch: the group; making batches, listing them, fetching results."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from towpath.batches import intake, stored
from towpath.batches.intake import Owner, Wanted
from towpath.batches.lines import pieces_of
from towpath.batches.names import download_key
from towpath.batches.views import BatchView, views
from towpath.cli.auditing import note
from towpath.cli.batching import datasets, moving, showing, transcribing, watching
from towpath.cli.batching.opening import BatchId, DatasetIds, opened_batches, readable
from towpath.cli.batching.sent import tell_sent
from towpath.cli.data import options_for
from towpath.cli.fitting import first_fitting
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, Limit, Tenant, finds_data
from towpath.cli.screen import clean, console, say_json, table
from towpath.core.errors import ConfigurationError
from towpath.core.records import DEFAULT_TENANT
from towpath.outbound.sources import is_address

app = typer.Typer(
    no_args_is_help=True,
    help="Many prompts or files at once, at a batch provider or on your own workers: complete, transcribe, watch, results.",
)

Requests = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE", show_default=False,
        help="Requests as JSON lines, such as {\"custom_id\": \"a\", \"body\": {\"messages\": […]}}; "
        "a file here, or an address that begins with https://, s3://, gs:// or az://.",
    ),
]  # fmt: skip


@app.command("complete")
@finds_data
def complete(  # noqa: PLR0913  (they are the options of a command)
    file: Requests = None,
    *,
    dataset: DatasetIds = None,
    provider: Annotated[
        str, typer.Option("--provider", help="Who is asked; LOCAL is the chat service of the settings.")
    ] = "LOCAL",
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="The model; several to ask each of them everything.", show_default=False),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What it is called in lists.", show_default=False)] = None,
    window: Annotated[
        str | None, typer.Option("--window", help="How long the provider may take, such as 24h.", show_default=False)
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="A line that cannot be asked makes the batch partial.")] = False,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose it is.")] = DEFAULT_TENANT,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it until it has ended, as towpath batch watch does.")] = False,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Sends a file of requests and prints the id of the batch. A running towpath up or worker does the rest.

    Lines that cannot be asked are told among the results, and do not stop the others.

    \b
    Examples:
      towpath batch complete questions.jsonl
      towpath batch complete questions.jsonl --provider OPENAI --model gpt-5-mini --wait
      towpath batch complete https://example.com/questions.jsonl
      towpath batch complete --dataset ID --model gpt-5-mini --model gpt-5
      towpath batch results ID > answers.jsonl
    """
    settings = {"window": window, "strict_inputs": strict}
    kept = {name: value for name, value in settings.items() if value}
    if (file is None) == (not dataset):
        raise typer.BadParameter("give a FILE, or a --dataset of those there are", param_hint="FILE")
    if file is None:
        wanted = Wanted(provider, model or (), title, kept, dataset_ids=dataset or ())
    elif is_address(file):
        wanted = Wanted(provider, model or (), title, kept, uri=file)
    else:
        wanted = Wanted(provider, model or (), title or Path(file).name, kept, lines=pieces_of(readable(file)))
    batch_id, job_id = run(_complete(wanted, tenant, database))
    tell_sent(batch_id, job_id, database, as_json=as_json, wait=wait)


async def _complete(wanted: Wanted, tenant: str, database: str | None) -> tuple[str, str]:
    async with opened_batches(database, writes=True) as app:
        batch_id, job_id = await intake.create(app, wanted, Owner(tenant))
        await note(app, "batch.create", batch_id, tenant=tenant, provider=wanted.provider)
        return batch_id, job_id


app.command("transcribe")(transcribing.transcribe)


@app.command("list")
@finds_data
def list_batches(
    *,
    status: Annotated[str | None, typer.Option("--status", help="Only batches of this status.", show_default=False)] = None,
    tenant: Tenant = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Lists batches, newest first.

    \b
    Examples:
      towpath batch list
      towpath batch list --status failed --json
    """
    wanted = None if status is None else status.upper().replace("-", "_")
    found = run(_list(tenant, wanted, limit, database))
    if as_json:
        say_json([showing.as_dict(view) for view in found])
        return
    console().print(_table(found) if found else "no batches match")


async def _list(tenant: str | None, status: str | None, limit: int, database: str | None) -> Sequence[BatchView]:
    """A status is told from jobs."""
    async with opened_batches(database) as app:

        async def page(before: str | None, count: int) -> Sequence[BatchView]:
            return await views(app, await stored.page(app, tenant, before=before, limit=count))

        return await first_fitting(page, lambda view: status in (None, view.status), lambda view: view.batch.id, limit)


def _table(found: Sequence[BatchView]) -> Table:
    grid = table("id", "status", "task", "provider", "count", "title")
    for view in found:
        batch = view.batch
        count = "" if batch.count is None else f"{batch.count:,}"
        grid.add_row(
            batch.id, showing.status_text(view.status), batch.task_type, batch.provider, count, clean(batch.title)
        )  # fmt: skip
    return grid


@app.command("results")
@finds_data
def results(
    batch_id: BatchId,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Write them there instead of to the screen.", show_default=False),
    ] = None,
    database: Database = None,
) -> None:
    """Writes the results: of a completion a line of JSON for each request and model, in the order of the requests; of a
    transcription one JSON document, in the order of the inputs.

    \b
    Examples:
      towpath batch results ID > answers.jsonl
      towpath batch results ID --to answers.jsonl
      towpath batch results ID | jq -r ".transcriptions[].text"
    """
    run(_results(batch_id, to, database))


async def _results(batch_id: str, to: Path | None, database: str | None) -> None:
    async with opened_batches(database) as app:
        batch = await stored.find(app, batch_id.lower())
        if batch.result_bytes is None:
            raise ConfigurationError(
                f"this batch has no results yet; see: towpath batch status {batch.id}{options_for(app.url)}"
            )
        async with aclosing(app.blobs.open(download_key(batch.id, batch.task_type))) as pieces, _target(to) as target:
            async for piece in pieces:
                target.write(piece)


@asynccontextmanager
async def _target(to: Path | None) -> AsyncIterator[Any]:
    """Whole or not at all: a file is put in place when it is complete."""
    if to is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    unfinished = to.with_name(f".{to.name}.part")
    with unfinished.open("wb") as target:
        yield target
    shutil.move(unfinished, to)


app.command("status")(showing.status)
app.command("watch")(watching.watch)
app.command("cancel")(moving.cancel)
app.command("retry")(moving.retry)
app.command("adopt")(moving.adopt)
app.command("resubmit")(moving.resubmit)
app.add_typer(datasets.app, name="dataset")
