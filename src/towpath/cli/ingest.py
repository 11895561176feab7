"""towpath ingest: files, folders, addresses and buckets become text that can be searched, with or without a server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.asking import Server, Token
from towpath.cli.data import database_in, options_for
from towpath.cli.ingesting.following import follow
from towpath.cli.ingesting.gathering import Gathered, gather
from towpath.cli.ingesting.options import place_for
from towpath.cli.ingesting.outcomes import FAILED, KNOWN, Outcome
from towpath.cli.ingesting.place import Place
from towpath.cli.ingesting.sending import Wishes
from towpath.cli.opening import run
from towpath.cli.options import AsJson
from towpath.cli.screen import clean, console, say_json
from towpath.cli.words import program

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...", help="Files, folders with all that lies below them, addresses that begin with https://, and "
        "objects or folders (with a / at the end) of buckets: s3://, gs:// or az://.",
    ),
]  # fmt: skip


def ingest(
    inputs: Inputs,
    *,
    ocr: Annotated[bool, typer.Option("--ocr/--no-ocr", help="Read pages that are pictures.")] = True,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget", metavar="CENTS", min=0, help="What each run may spend; beyond it the rest waits.", show_default=False
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="What the run is called in lists.", show_default=False)
    ] = None,
    again: Annotated[bool, typer.Option("--again", "--force", help="Send what was read before, too.")] = False,
    as_json: AsJson = False,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Where documents are kept, as with towpath up; made if missing.")
    ] = Path("towpath-data"),
    server: Server = None,
    token: Token = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="How many documents to read at once on this machine.")
    ] = 2,
) -> None:
    """Reads documents so that they can be searched. Exit code 1 if some could not be read.

    Without --server everything happens on this machine, in this process, and is kept in DIR; what is unfinished when it is
    stopped goes on with the next towpath ingest or up on that directory. With --server the files are sent there. A file is
    known by where it lies and its content: the same command again leaves out what is done, goes on with what is not, and
    tries again what failed. Addresses are looked at anew each time; what has not changed there is not read again. Of a
    folder everything is taken that may be a document, and what is left out is said.

    \b
    Examples:
      towpath ingest report.pdf letters/
      towpath ingest https://example.com/handbook.html s3://papers/2025/
      towpath ingest letters/ --server https://towpath.example.org --token tow_…
      towpath search "who paid for the lock"
    """
    gathered = gather(inputs)
    settings = {
        name: value for name, value in (("ocr", None if ocr else False), ("budget_cents", budget)) if value is not None
    }
    opening = place_for(data, server, token, concurrency)
    outcomes = run(_ingest(opening, gathered, Wishes(settings, title, again), quiet=as_json))
    if as_json:
        left_out = [{"path": name, "why": why} for name, why in gathered.skipped]
        say_json({"items": [one.as_dict() for one in outcomes], "skipped": left_out})
    else:
        where = "" if server else options_for(database_in(data))
        _last_words(outcomes, gathered, where, here=server is None)
    if not all(one.is_good for one in outcomes):
        raise typer.Exit(1)


async def _ingest(
    opening: AbstractAsyncContextManager[Place], gathered: Gathered, wishes: Wishes, *, quiet: bool
) -> list[Outcome]:
    async with opening as place:
        try:
            return await follow(place, gathered, wishes, quiet=quiet)
        except asyncio.CancelledError:
            if not quiet:
                console().print("stopping; the same command goes on from here")
            raise


def _last_words(outcomes: Sequence[Outcome], gathered: Gathered, where: str, *, here: bool) -> None:
    screen = console()
    good, known = sum(one.is_good for one in outcomes), sum(one.status == KNOWN for one in outcomes)
    if gathered.skipped:
        screen.print(f"left out: {_reasons(gathered)}")
    if not outcomes:
        screen.print("there is nothing to read")
        return
    before = f", {known:,} of them before" if known else ""
    screen.print(f"{good:,} of {len(outcomes):,} read{before}")
    for run_id in dict.fromkeys(one.run_id for one in outcomes if one.status == FAILED and one.item_id) if here else ():
        screen.print(f"what failed, and where: {program()} documents run {run_id}{where}")
    if good and here:
        screen.print(f"to find something in it: {program()} search WORDS{where}")


def _reasons(gathered: Gathered) -> str:
    """How many for each reason, with the first of them."""
    first: dict[str, str] = {}
    counts = Counter(why for _, why in gathered.skipped)
    for name, why in gathered.skipped:
        first.setdefault(why, name)
    return "; ".join(
        f"{clean(first[why])} {why}" if count == 1 else f"{count:,} like {clean(first[why])}, which {why}"
        for why, count in counts.most_common()
    )
