"""towpath batch transcribe: many files, at a provider of speech or on one's own workers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from towpath import assets
from towpath.batches import intake
from towpath.batches.intake import MOST_INPUTS, Owner, Wanted
from towpath.batches.lines import pieces_of
from towpath.batches.names import LOCAL, TRANSCRIPTION
from towpath.cli.auditing import note
from towpath.cli.batching.opening import DatasetIds, opened_batches
from towpath.cli.batching.sent import tell_sent
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.screen import clean, console, is_live
from towpath.core.errors import SchemaInvalid
from towpath.core.records import DEFAULT_TENANT
from towpath.engine.app import App
from towpath.outbound.sources import is_address

_ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT...", show_default=False,
        help="Audio or video: files here, addresses that begin with https://, s3://, gs:// or az://, "
        "and ids of uploaded files.",
    ),
]  # fmt: skip


@finds_data
def transcribe(  # noqa: PLR0913  (they are the options of a command)
    inputs: Inputs = None,
    *,
    dataset: DatasetIds = None,
    provider: Annotated[
        str, typer.Option("--provider", help="Who hears them; LOCAL is this installation's own workers.")
    ] = LOCAL,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="The model; several to have each of them hear everything.", show_default=False),
    ] = None,
    locale: Annotated[
        str | None, typer.Option("--locale", metavar="TAG", help="What is spoken, such as en-US.", show_default=False)
    ] = None,
    speakers: Annotated[
        int | None,
        typer.Option("--speakers", min=2, max=30, help="Tell speakers apart, so many at most.", show_default=False),
    ] = None,
    words: Annotated[
        bool, typer.Option("--word-timestamps", help="A time for each word, where the provider has that.")
    ] = False,
    title: Annotated[str | None, typer.Option("--title", help="What it is called in lists.", show_default=False)] = None,
    strict: Annotated[bool, typer.Option("--strict", help="An input that cannot be heard makes the batch partial.")] = False,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose it is.")] = DEFAULT_TENANT,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it until it has ended, as towpath batch watch does.")] = False,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Has files transcribed and prints the id of the batch. A running towpath up or worker does the rest.

    Files from here are uploaded first; if one of them cannot be taken, nothing is sent. What is wrong with an address is
    told among the results, and does not stop the others.

    \b
    Examples:
      towpath batch transcribe talks/*.mp3
      towpath batch transcribe s3://talks/monday.mp3 --provider AWS --locale en-US --wait
      towpath batch results ID > transcripts.json
    """
    told = {"locale": locale, "diarization": speakers, "word_timestamps": words, "strict_inputs": strict}
    settings = {name: value for name, value in told.items() if value}
    if (not inputs) == (not dataset):
        raise typer.BadParameter("give an INPUT or more, or a --dataset of those there are", param_hint="INPUT")
    named = title or (_title(inputs) if inputs else None)
    wanted = Wanted(provider, model or (), named, settings, dataset_ids=dataset or (), task_type=TRANSCRIPTION)
    batch_id, job_id = run(_transcribe(_checked(inputs or ()), wanted, tenant, database, quiet=as_json))
    tell_sent(batch_id, job_id, database, as_json=as_json, wait=wait)


def _title(inputs: Sequence[str]) -> str:
    first = Path(inputs[0].partition("?")[0]).name
    return first if len(inputs) == 1 else f"{first} and {len(inputs) - 1:,} more"


def _checked(inputs: Sequence[str]) -> list[str]:
    """Each once. What is neither an address nor an id is a file, and has to be there before anything is uploaded."""
    found = list(dict.fromkeys(inputs))
    if len(found) > MOST_INPUTS:
        raise typer.BadParameter(f"a batch has {MOST_INPUTS:,} inputs at most, got {len(found):,}", param_hint="INPUT")
    for one in found:
        if _is_here(one) and not (Path(one).is_file() and os.access(one, os.R_OK)):
            raise typer.BadParameter(f"there is no file {clean(one)} that can be read", param_hint="INPUT")
    return found


def _is_here(one: str) -> bool:
    return not is_address(one) and _ID.fullmatch(one) is None


async def _transcribe(
    inputs: Sequence[str], wanted: Wanted, tenant: str, database: str | None, *, quiet: bool
) -> tuple[str, str]:
    async with opened_batches(database, writes=True) as app:
        await intake.check(app, wanted)
        uploaded: list[str] = []
        try:
            named = await _named(app, inputs, tenant, uploaded, quiet=quiet)
            asked = wanted if not named else replace(wanted, lines=intake.as_inputs(named))
            batch_id, job_id = await intake.create(app, asked, Owner(tenant))
        except BaseException:
            with suppress(Exception):  # why nothing was sent is what has to be told
                await assets.delete(app, tenant, uploaded)
            raise
        await note(app, "batch.create", batch_id, tenant=tenant, provider=wanted.provider, task_type=TRANSCRIPTION)
        return batch_id, job_id


async def _named(app: App, inputs: Sequence[str], tenant: str, uploaded: list[str], *, quiet: bool) -> list[str]:
    """The inputs as the batch names them: a file from here is an uploaded one now."""
    named: list[str] = []
    for one in track(inputs, "uploading", console=console(), disable=quiet or not is_live(), transient=True):
        if not _is_here(one):
            named.append(one)
            continue
        path = Path(one)
        try:
            asset = await assets.receive(app, tenant, path.name, pieces_of(path), kinds=assets.MEDIA, created_by=None)
        except assets.AssetRefused as error:
            raise SchemaInvalid(f"{clean(path)}: {error}", path="inputs", remedy="leave it out; nothing was sent") from None
        uploaded.append(asset.id)
        named.append(asset.id)
    return named
