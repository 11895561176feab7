"""Behind `towpath models`: the database that knows what people have chosen, and the commands that change it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Annotated

import typer

from towpath import choices
from towpath.choices import changing, trying
from towpath.choices.overlay import chosen, overlaid
from towpath.choices.records import SERVICE, Kind, Service
from towpath.choices.slice import SLICE
from towpath.cli.auditing import note, noting
from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.cli.opening import run
from towpath.cli.options import Database, finds_data
from towpath.cli.screen import clean
from towpath.config import Settings
from towpath.core.errors import Fatal
from towpath.engine.app import App
from towpath.store.migrating import pending


class For(StrEnum):
    """What a model is for."""

    SPEECH = "speech"
    CHAT = "chat"


Kinds = Annotated[For, typer.Option("--for", help="Whether it hears or chats.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="What it is called here; it becomes service/NAME.")]


@asynccontextmanager
async def opened_choices(database: str | None) -> AsyncIterator[App]:
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=False)
    choices.attach(app)
    if not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        yield app


async def in_force(database: str | None, settings: Settings) -> tuple[Settings, list[Service]]:
    """The settings with what people have chosen laid over them, and their services; where there is no database yet, or one
    that never had a server, the settings as they are."""
    if database is None and not exists(usual_database()):
        return settings, []
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=False)
    if not exists(app.url):
        raise missing_database(app.url)
    async with opening(app):
        if await pending(app.services.store, [SLICE]) or SLICE.queries is None:
            return settings, []
        if "model_services" not in app.services.store.queries.names():
            app.services.store.queries.load(SLICE.queries)
        known = await chosen(app.services.store)
        return overlaid(app, known), list(known.services.values())


def _kind(wanted: For) -> Kind:
    return "chat" if wanted is For.CHAT else "speech"


@finds_data
def use(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Such as whisper/small or service/NAME; environment: as the settings say.")
    ],
    kind: Kinds = For.SPEECH,
    database: Database = None,
) -> None:
    """Chooses what hears, or chats, where nobody says otherwise. It counts at once, for all workers on the database.

    \b
    Examples:
      towpath models use whisper/small
      towpath models use service/box --for chat
      towpath models use environment
    """

    async def work() -> None:
        async with opened_choices(database) as app:
            await changing.choose(app, _kind(kind), model, also=await noting(app, "models.default", str(kind), model=model))

    run(work())
    typer.echo(f"{clean(model)} is what {'chats' if kind is For.CHAT else 'hears'} by default")


@finds_data
def add_service(  # noqa: PLR0917  (they are the options of a command)
    name: Name,
    url: Annotated[str, typer.Option("--url", help="The base URL, such as http://localhost:8080/v1.")],
    model: Annotated[str, typer.Option("--model", help="What the service calls the model.")],
    kind: Kinds = For.SPEECH,
    languages: Annotated[
        str | None, typer.Option("--languages", metavar="TAGS", help="What it hears, with commas.", show_default=False)
    ] = None,
    key_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key that it asks for from standard input; it is kept encrypted.")
    ] = False,
    database: Database = None,
) -> None:
    """Sets up a service that speaks OpenAI's API, for speech or for chat.

    \b
    Examples:
      towpath models add-service box --url http://localhost:8000/v1 --model whisper-1
      towpath models add-service cloud --for chat --url https://api.example.com/v1 --model m --key-stdin < key.txt
    """
    key = sys.stdin.readline().strip() if key_stdin else None
    tags = [tag.strip() for tag in (languages or "").split(",") if tag.strip()]

    async def work() -> None:
        async with opened_choices(database) as app:
            line = await noting(app, "models.service.create", name, kind=str(kind), url=url)
            await changing.add_service(app, name, _kind(kind), changing.Wanted(url, model, tags or None, key), also=line)

    run(work())
    typer.echo(f"{SERVICE}{clean(name)} is set up; towpath models test {clean(name)} asks it")


@finds_data
def remove_service(name: Name, database: Database = None) -> None:
    """Removes a service, and its key with it. What is queued for it fails, and says why.

    \b
    Examples:
      towpath models remove-service box
    """

    async def work() -> None:
        async with opened_choices(database) as app:
            await changing.remove_service(app, name, also=await noting(app, "models.service.delete", name))

    run(work())
    typer.echo(f"{SERVICE}{clean(name)} is removed")


@finds_data
def try_service(name: Name, database: Database = None) -> None:
    """Really asks a service, with a second of sound or for one word; fails with what was wrong if it does not answer.

    \b
    Examples:
      towpath models test box
    """

    async def work() -> trying.Tried:
        async with opened_choices(database) as app:
            service = await changing.find_service(app, name)
            tried = await trying.try_service(app, service.kind, service.reference)
            await note(app, "models.test", service.reference, kind=service.kind, ok=tried.ok)
            return tried

    tried = run(work())
    if not tried.ok:
        raise Fatal(str(tried.error), remedy=tried.remedy)
    said = f", and said: {clean(tried.said)}" if tried.said else ""
    typer.echo(f"{SERVICE}{clean(name)} answered after {tried.seconds:.2f} s{said}")
