"""towpath models: which speech, chat and embedding models can be used here, and how more come to this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from towpath import config
from towpath.choices.records import Service
from towpath.cli import choosing
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.screen import clean, console, is_live, say_json, table
from towpath.core.masking import masked
from towpath.models.inventory import Entry, entries

app = typer.Typer(no_args_is_help=True, help="See which models can be used, and pull more.")


app.command("use")(choosing.use)
app.command("add-service")(choosing.add_service)
app.command("remove-service")(choosing.remove_service)
app.command("test")(choosing.try_service)


@app.command("list")
@finds_data
def list_models(as_json: AsJson = False, database: Database = None) -> None:
    """Lists speech, chat and embedding models: which are in use, installed, or can be pulled.

    Services that were set up and what was chosen are those of the database, if there is one.

    \b
    Examples:
      towpath models list
      towpath models list --json
    """
    settings, services = run(choosing.in_force(database, config.load()))
    found = [*entries(settings), *(_entry(one) for one in services if not _is_in_use(one, settings))]
    if as_json:
        say_json([asdict(entry) | {"note": masked(entry.note)} for entry in found])
        return
    shown = table("model", "kind", "languages", "state", "note")
    for entry in found:
        shown.add_row(*(clean(part) for part in (entry.name, entry.kind, entry.languages, entry.state, masked(entry.note))))
    console().print(shown)


def _is_in_use(one: Service, settings: config.Settings) -> bool:
    """Then it is among the others already."""
    return (one.url, one.model) in (
        (settings.speech_url, settings.speech_model),
        (settings.chat_url, settings.chat_model),
    )


def _entry(one: Service) -> Entry:
    return Entry(one.reference, f"{one.kind} service", ", ".join(one.languages or ["as the service"]), "configured", one.url)


@app.command("pull")
def pull(
    names: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Such as moonshine/base-es or whisper/small.")],
    force: Annotated[bool, typer.Option("--force", help="Fetch files again that are already here.")] = False,
) -> None:
    """Fetches models to this machine, into TOWPATH_MODELS_DIR; each file is checked before it counts.

    Needs the network, or a mirror named by TOWPATH_MODELS_URL.

    \b
    Examples:
      towpath models pull moonshine/base-es
      TOWPATH_MODELS_URL=https://mirror.example.com towpath models pull whisper/small
    """
    from towpath.models.pulling import pull as fetch

    settings = config.load()
    for name in names:
        with _bars() as bars:
            folder = fetch(settings, name, force=force, report=_ProgressBars(bars))
        typer.echo(f"{clean(name)} is in {clean(folder)}")


def _bars() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=console(), transient=True, disable=not is_live())


class _ProgressBars:
    """One bar per file."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, int] = {}

    def __call__(self, name: str, here: int, whole: int | None) -> None:
        if name not in self._tasks:
            self._tasks[name] = int(self._bars.add_task(clean(name), total=whole))
        self._bars.update(self._tasks[name], completed=here)  # type: ignore[arg-type]  # a TaskID is an int
