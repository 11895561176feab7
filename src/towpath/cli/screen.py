"""Where output goes and how it looks.

Tenants, messages and payloads come from strangers: `clean` takes out whatever could drive the terminal, and nothing
that comes from a job is ever read as markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 200
ID_COLUMNS = ("id", "child")
ID_WIDTH = 36

STATE_STYLES = {
    "queued": "blue",
    "running": "cyan",
    "waiting": "yellow",
    "succeeded": "green",
    "partial": "magenta",
    "failed": "red",
    "cancelled": "bright_black",
}

_CONTROL = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(0x7F, 0xA0)) if code not in (9, 10)}


def clean(value: object) -> str:
    """The text without control characters."""
    return str(value).translate(_CONTROL)


def one_line(value: object, most: int = 300) -> str:
    text = " ".join(clean(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def console() -> Console:
    """Standard output. What is piped is not cut to the width of a terminal that nobody looks at."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def is_live() -> bool:
    return console().is_terminal


def table(*columns: str) -> Table:
    """Ids are for copying and never cut; everything else is cut before it is folded, the last column is folded."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(columns, 1):
        whole = name in ID_COLUMNS
        made.add_column(name, no_wrap=number < len(columns), min_width=ID_WIDTH if whole else None, overflow="ellipsis")
    return made


def facts(pairs: Sequence[tuple[str, Any]]) -> Table:
    """Name and value, one pair a line; pairs without a value are left out."""
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None and value != "":
            made.add_row(name, value if isinstance(value, Text) else clean(value))
    return made


def state(name: str) -> Text:
    return Text(name, STATE_STYLES.get(name, ""))


def say_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def say_json_line(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))
