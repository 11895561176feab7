"""Options that `towpath transcribe` and `towpath watch` share."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import typer

from towpath.cli.asking import Server, Token, check_token
from towpath.cli.extras import need
from towpath.cli.transcribing.place import Place
from towpath.store.private import make_folder

__all__ = ["Concurrency", "Data", "Language", "Model", "Out", "Server", "Speakers", "Summary", "To", "Token", "place_for"]

Data = Annotated[
    Path,
    typer.Option("--data", metavar="DIR", help="Where recordings are kept, as with towpath up; made if missing."),
]  # fmt: skip
Out = Annotated[
    str,
    typer.Option("--out", metavar="FORMATS", help="What to write: txt, srt, vtt, json, md, docx, pdf; several with commas."),
]
To = Annotated[
    Path | None,
    typer.Option("--to", metavar="DIR", help="Where to write it; beside the audio by default.", show_default=False),
]
Language = Annotated[
    str | None, typer.Option("--language", metavar="TAG", help="What is spoken, such as en.", show_default=False)
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Who hears, such as whisper/small or service/NAME; the default of the installation if left out.",
        show_default=False,
    ),
]
Speakers = Annotated[bool, typer.Option("--speakers", help="Tell speakers apart, where the engine can.")]
Summary = Annotated[bool, typer.Option("--summary", help="Summarise as well; it is in the md and json files.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="How many parts to hear at once on this machine.")]


def place_for(data: Path, server: str | None, token: str | None, concurrency: int) -> AbstractAsyncContextManager[Place]:
    """Where the work is done. What hears is an extra, and a server that is asked has its own."""
    check_token(server, token)
    if server is not None:
        from towpath.cli.transcribing.remotely import on_server

        return on_server(server, token)
    need("local")
    from towpath.cli.transcribing.locally import on_this_machine

    folder = data.absolute()
    make_folder(folder)
    return on_this_machine(folder, concurrency)
