"""towpath transcribe: audio and video files in, transcripts out, with or without a server."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from towpath.cli.data import database_in, exists
from towpath.cli.opening import run
from towpath.cli.screen import clean, console
from towpath.cli.transcribing.following import Outcome, follow
from towpath.cli.transcribing.options import (
    Concurrency,
    Data,
    Language,
    Model,
    Out,
    Server,
    Speakers,
    Summary,
    To,
    Token,
    place_for,
)
from towpath.cli.transcribing.place import FileOptions, Place
from towpath.cli.transcribing.writing import OutputFiles, formats_from

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Audio or video files.", exists=True, dir_okay=False, readable=True),
]  # fmt: skip


def transcribe(  # noqa: PLR0913, PLR0917  (they are the options of a command)
    files: Files,
    data: Data = Path("towpath-data"),
    server: Server = None,
    token: Token = None,
    out: Out = "txt",
    to: To = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace transcripts that are there already.")] = False,
    again: Annotated[
        bool, typer.Option("--again", "--force", help="Transcribe anew what is done, and replace its transcripts.")
    ] = False,
    language: Language = None,
    model: Model = None,
    speakers: Speakers = False,
    summary: Summary = False,
    concurrency: Concurrency = 2,
) -> None:
    """Transcribes files and writes what was said beside them. Exit code 1 if some could not be done.

    Without --server everything happens on this machine, offline, in this process, and is kept in DIR; what is unfinished
    when it is stopped goes on with the next towpath transcribe, watch or up on that directory. With --server the files
    are sent there. A file is known by its content and these options: the same command again leaves out what is done, and
    goes on with what is not; --again begins anew, such as for another model.

    \b
    Examples:
      towpath transcribe *.mp3
      towpath transcribe talk.mp4 --out srt,md --summary
      towpath transcribe vortrag.m4a --language de --model whisper/small
      towpath transcribe *.m4a --server https://towpath.example.org --token tow_…
    """
    paths = list(dict.fromkeys(files))
    landing = OutputFiles(formats_from(out, server), to, overwrite or again)
    standing = landing.check(paths)
    if standing and server is None and not exists(database_in(data)):
        raise landing.refuse(standing[0])
    wishes = FileOptions(language, speakers, summary, model)
    outcomes = run(_transcribe(place_for(data, server, token, concurrency), paths, standing, landing, wishes, again))
    for outcome in outcomes:
        console().print(_last_word(outcome, landing))
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


async def _transcribe(
    opening: AbstractAsyncContextManager[Place],
    paths: list[Path],
    standing: list[Path],
    landing: OutputFiles,
    wishes: FileOptions,
    again: bool,
) -> list[Outcome]:
    async with opening as place:
        try:
            known = await landing.known(place, standing, wishes)
            return await follow(
                place, paths, wishes, lambda outcome: landing.land(place, outcome), known=known, again=again
            )  # fmt: skip
        except asyncio.CancelledError:
            console().print("stopping; the same command goes on from here")
            raise


def _last_word(outcome: Outcome, landing: OutputFiles) -> Text:
    name = clean(outcome.path)
    if outcome.error is not None:
        return Text.assemble(name, ": ", (clean(outcome.error), "red"))
    if not outcome.written:
        there = ", ".join(clean(path) for path in landing.targets(outcome.path))
        return Text(f"{name}: done already, see {there}; --again does it anew")
    written = ", ".join(clean(path) for path in outcome.written)
    return Text(f"{name} → {written}{f' ({outcome.warning})' if outcome.warning else ''}")
