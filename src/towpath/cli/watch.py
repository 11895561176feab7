"""towpath watch: transcribes what appears in a directory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

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
from towpath.core.errors import TowpathError

_NAMES = "3gp aac amr flac m4a m4b m4v mka mkv mov mp3 mp4 oga ogg opus wav webm"
ENDINGS = frozenset(f".{name}" for name in _NAMES.split())


def watch(  # noqa: PLR0913, PLR0917  (they are the options of a command)
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The directory to watch.", exists=True, file_okay=False, readable=True),
    ],
    data: Data = Path("towpath-data"),
    server: Server = None,
    token: Token = None,
    out: Out = "txt",
    to: To = None,
    language: Language = None,
    model: Model = None,
    speakers: Speakers = False,
    summary: Summary = False,
    concurrency: Concurrency = 2,
    every: Annotated[float, typer.Option("--every", min=0.05, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Transcribe what is there now, and end.")] = False,
) -> None:
    """Transcribes every audio or video file that appears in DIR, until Ctrl-C.

    A file is taken when it has not changed between two looks, so that one still being copied is left alone, and when its
    transcript is not there yet: it can be stopped and started at any time. A file that fails is tried again when it
    changes, or when the command is started anew.

    \b
    Examples:
      towpath watch ~/Recordings
      towpath watch inbox --to transcripts --out srt,txt --summary
    """
    watching = Watching(
        folder, OutputFiles(formats_from(out, server), to, overwrite=False), FileOptions(language, speakers, summary, model)
    )
    run(_watch(place_for(data, server, token, concurrency), watching, every, once))


@dataclass(slots=True)
class Watching:
    """What is in the directory, as far as it has been looked at."""

    folder: Path
    landing: OutputFiles
    wishes: FileOptions
    _seen: dict[Path, tuple[int, int]] = field(default_factory=dict)
    _failed: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def ready(self) -> list[Path]:
        """Files that have stayed the same since the last look, and have no transcript."""
        now = {path: mark for path in sorted(self.folder.iterdir()) if (mark := self._mark(path)) is not None}
        before, self._seen = self._seen, now
        return [path for path, mark in now.items() if before.get(path) == mark and self._wanted(path, mark)]

    def _wanted(self, path: Path, mark: tuple[int, int]) -> bool:
        return self._failed.get(path) != mark and not all(target.exists() for target in self.landing.targets(path))

    def _mark(self, path: Path) -> tuple[int, int] | None:
        if path.name.startswith(".") or path.suffix.lower() not in ENDINGS:
            return None
        try:
            found = path.stat()
        except OSError:  # it went away meanwhile, or is not for us
            return None
        return (found.st_size, found.st_mtime_ns) if path.is_file() else None

    def note(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.error is not None and outcome.path in self._seen:
                self._failed[outcome.path] = self._seen[outcome.path]


async def _watch(opening: AbstractAsyncContextManager[Place], watching: Watching, every: float, once: bool) -> None:
    async with opening as place:
        console().print(f"watching {clean(watching.folder)}; Ctrl-C stops it")
        watching.ready()
        while True:
            await asyncio.sleep(every)
            found = watching.ready()
            if found:
                watching.note(await _take(place, watching, found))
            if once and not found:
                return


async def _take(place: Place, watching: Watching, found: list[Path]) -> list[Outcome]:
    try:
        outcomes = await follow(
            place, found, watching.wishes, lambda outcome: watching.landing.land(place, outcome), known={}, again=False
        )
    except TowpathError as error:  # the server is away: it will be asked again
        console().print(f"not now: {clean(error)}")
        return []
    for outcome in outcomes:
        if outcome.error is not None:
            console().print(f"{clean(outcome.path.name)}: {clean(outcome.error)}")
    return outcomes
