"""towpath mcp: an assistant on this machine talks to a server, or to a database that is at hand."""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from towpath.cli.asking import Server, Token, check_token, server_at
from towpath.cli.data import DATA, database_in, database_url
from towpath.cli.extras import need
from towpath.cli.logs import set_up_logs
from towpath.cli.opening import run
from towpath.cli.options import Data, Database
from towpath.config import load
from towpath.core.errors import ConfigurationError
from towpath.store.private import make_folder

if TYPE_CHECKING:
    import httpx

_CHATTY = ("httpx", "mcp", "towpath.http")
"""They have a line for each request, and every tool is some requests."""


def mcp(
    *,
    server: Server = None,
    token: Token = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with the token, instead of --token: commands are seen by others on this machine.",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--files",
            metavar="DIR",
            help="A folder from which the assistant may send files; several times for "
            "several. Without any it may send none.",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        bool, typer.Option("--work/--no-work", help="Do the work here, too, as a worker; without --server.")
    ] = True,
    data: Data = None,
    database: Database = None,
) -> None:
    """Speaks the Model Context Protocol on standard input and output, for assistants that start it as a command.

    They can search, read passages and pages, ingest, transcribe, and see or cancel jobs. With --server they do so at that
    server, and may what the token may; a server also speaks for itself, at /mcp. Without it they use the data directory of
    towpath up, made if missing, or the database that is named, and what is to be done is done in this process.

    \b
    Examples:
      towpath mcp
      towpath mcp --files ~/Documents
      towpath mcp --server https://towpath.example.org --token-file ~/.towpath-token
    """
    need("mcp")
    from towpath.assistants import LocalFiles
    from towpath.assistants.stdio import serve_stdio

    set_up_logs(load())
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    if token_file is not None:
        if token is not None:
            raise ConfigurationError("--token and --token-file name two tokens; give one of them")
        token = token_file.read_text("utf-8").strip()
    check_token(server, token)
    if server is not None and (data is not None or database is not None):
        raise ConfigurationError("--server and --database or --data name two places; give one of them")

    async def serving() -> None:
        place = server_at(server, token) if server is not None else _here(data, database, work)
        async with place as client:
            await serve_stdio(client, LocalFiles(tuple(files or ())))

    run(serving())


def _here(data: Path | None, database: str | None, work: bool) -> AbstractAsyncContextManager[httpx.AsyncClient]:
    from towpath.cli.own_server import own_server

    url = database_url(database, data)
    if url is None:
        url = database_in(DATA)
        data = DATA
    if data is not None:
        make_folder(data.absolute())
    return own_server(url, work=work)
