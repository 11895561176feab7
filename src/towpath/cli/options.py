"""Options that several commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import typer

from towpath.cli.data import database_url

C = TypeVar("C", bound=Callable[..., None])

Database = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL", help="Where the jobs are; instead of TOWPATH_DATABASE_URL.", show_default=False
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="The data directory of towpath up; instead of --database.", show_default=False
    ),
]  # fmt: skip
AppPath = Annotated[
    str | None,
    typer.Option(
        "--app", metavar="MODULE:NAME", help="Your app; makes payloads be checked against its types.", show_default=False
    ),
]
AppWithSlices = Annotated[
    str | None,
    typer.Option(
        "--app", metavar="MODULE:NAME", help="Your app, if it brings migrations of its own.", show_default=False
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]
JobId = Annotated[
    str, typer.Argument(metavar="ID", help="The job's id, or how it begins or ends, such as its last 8 characters.")
]
JobIds = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of jobs, or how they begin or end.")]
WholeJobIds = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of jobs, in full.")]
Operation = Annotated[str | None, typer.Option("--operation", help="Only this operation.", show_default=False)]
Queue = Annotated[str | None, typer.Option("--queue", help="Only this queue.", show_default=False)]
QueueName = Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name.")]
New = Annotated[bool, typer.Option("--new", help="Also if no job and no worker has used the queue yet.")]
ScheduleName = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name.")]
Tenant = Annotated[str | None, typer.Option("--tenant", help="Only this tenant.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most this many.")]
Payload = Annotated[
    str | None,
    typer.Option(
        "--payload", metavar="JSON", help="JSON, or @file, or - for standard input.", show_default=False
    ),
]  # fmt: skip
KeepSteps = Annotated[bool, typer.Option("--keep-steps", help="Keep recorded steps although the payload is new.")]


def finds_data(command: C) -> C:
    """Gives a command that takes --database the option --data too; it is handed the one URL that either names."""
    signature = inspect.signature(command, eval_str=True)
    parameters = list(signature.parameters.values())
    place = next(number for number, item in enumerate(parameters) if item.name == "database")
    parameters.insert(place, inspect.Parameter("data", parameters[place].kind, default=None, annotation=Data))

    @functools.wraps(command)
    def finding(*, data: Path | None = None, database: str | None = None, **others: Any) -> None:
        command(database=database_url(database, data), **others)

    finding.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by typer
    return cast(C, finding)


def parse_payload(text: str | None) -> Any:
    """The value behind --payload; None if there is none."""
    if text is None:
        return None
    source = _source(text)
    try:
        return json.loads(source)
    except ValueError as error:
        raise typer.BadParameter(
            f"this is no JSON ({error}): {source[:60]!r}; quote it for the shell, e.g. '{{\"page\": 1}}'",
            param_hint="--payload",
        ) from None


def parse_new_payload(text: str | None) -> Any:
    """The value behind --payload where none means: leave it as it was."""
    value = parse_payload(text)
    if value is None and text is not None:
        raise typer.BadParameter(
            "null cannot replace a payload; give an object, a list, text or a number", param_hint="--payload"
        )
    return value


def _source(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise typer.BadParameter(f"cannot read {text[1:]}: {error}", param_hint="--payload") from None
    return text
