"""towpath search: passages of documents and recordings that answer, with the words that were asked for set off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from towpath.cli.asking import Server, Token, check_token
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.screen import clean, console, say_json
from towpath.cli.words import playing_time
from towpath.core.errors import ConfigurationError

_LONGEST = 400
_BEFORE = 120


@finds_data
def search(  # noqa: PLR0913  (they are the options of a command)
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORDS...",
            help='Words, "a phrase", or a whole question. A word with a - before it must not be there: write it after --.',
        ),
    ],
    *,
    kind: Annotated[
        str | None, typer.Option("--type", help="Only this kind of thing: pdf, docx, …, or recording.", show_default=False)
    ] = None,
    of_run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only documents of this run.", show_default=False)
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            "--entity", metavar="TYPE:KEY", help="Only what names this, such as person:helen brandt.", show_default=False
        ),
    ] = None,
    document: Annotated[
        str | None, typer.Option("--document", metavar="ID", help="Only in this document.", show_default=False)
    ] = None,
    recording: Annotated[
        str | None, typer.Option("--recording", metavar="ID", help="Only in this recording.", show_default=False)
    ] = None,
    how: Annotated[
        Literal["both", "words", "meaning"], typer.Option("--how", help="By words, by meaning, or both.")
    ] = "both",
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most this many.")] = 10,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Whose documents; of this machine those of default.", show_default=False)
    ] = None,
    server: Server = None,
    token: Token = None,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Finds passages of documents and recordings, by words and by meaning. Exit code 1 if there are none.

    \b
    Examples:
      towpath search who paid for the lock
      towpath search '"toll house"' --type pdf
      towpath search barges --json | jq -r ".results[].document_id"
      towpath search barges --server https://towpath.example.org --token tow_…
    """
    asked = {
        "q": " ".join(words), "type": kind, "run": of_run, "entity": entity, "document_id": document,
        "recording_id": recording, "how": how, "limit": limit,
    }  # fmt: skip
    check_token(server, token)
    if server is not None and database is not None:
        raise ConfigurationError("--server and --database or --data name two places; give one of them")
    found = run(_find(server, token, database, asked, tenant))
    if as_json:
        say_json(found)
    else:
        _show(found["results"], by_words=how != "meaning")
    if not found["results"]:
        raise typer.Exit(1)


async def _find(
    server: str | None, token: str | None, database: str | None, asked: Mapping[str, Any], tenant: str | None
) -> dict[str, Any]:
    from towpath.cli.searching import find_here, find_there

    if server is not None:
        return await find_there(server, token, asked, tenant)
    return await find_here(database, asked, tenant)


def _show(results: list[dict[str, Any]], *, by_words: bool) -> None:
    screen = console()
    if not results:
        screen.print("nothing was found")
        return
    if by_words and not any(one["highlights"] for one in results):
        screen.print("no passage has these words; these are the nearest by what they mean\n")
    for number, one in enumerate(results):
        if number:
            screen.print()
        screen.print(_heading(one), soft_wrap=True)
        screen.print(marked(one["text"], [(mark["start"], mark["end"]) for mark in one["highlights"]]))


def _heading(one: Mapping[str, Any]) -> Text:
    """Its title, where in it, and the id by which it is opened."""
    place = f", page {one['page']}" if one["page"] is not None else ""
    if one["start"] is not None:
        place = f", at {playing_time(one['start'])}"
    return Text.assemble(
        (clean(one["title"]), "bold"), place, (f"  {one['document_id'] or one['recording_id'] or ''}", "dim")
    )


def marked(text: str, highlights: list[tuple[int, int]]) -> Text:
    """As much as is read at a glance, from a little before the first word that was asked for."""
    first = highlights[0][0] if highlights else 0
    begin = 0 if first <= _BEFORE else text.rfind(" ", 0, first - _BEFORE + 20) + 1
    end = min(len(text), begin + _LONGEST)
    if end < len(text):
        end = max(text.rfind(" ", begin, end), begin + 1)
    shown = Text("…" if begin else "")
    at = begin
    for start, stop in highlights:
        if start < at or start >= end:
            continue
        shown.append(_flat(text[at:start]))
        shown.append(_flat(text[start : min(stop, end)]), "bold yellow")
        at = min(stop, end)
    shown.append(_flat(text[at:end]) + ("…" if end < len(text) else ""))
    return shown


def _flat(text: str) -> str:
    return clean(text).replace("\n", " ").replace("\t", " ")
