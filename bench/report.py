"""Shows the tables of a run on the terminal, and writes them to RESULTS.md."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

from bench.plan import PEERS
from bench.results import Results
from bench.tables import GOALS, Table, tables

RESULTS = Path(__file__).with_name("RESULTS.md")

_INTRODUCTION = """\
# Benchmark results

Written by `python -m bench --write`. Ratios are to the raw-SQL floor, measured before and after every subject in the
same run; medians of the rounds, with the lowest and highest round in brackets. Absolute rates depend on the machine and
on what else it was doing; ratios hold.

The floor finishes one batch and claims the next in a single statement (on SQLite: transaction), with three event rows
per job; `floor_two_commits` gives each its own commit. Rows for two processes are compared with one process of the
floor. Towpath keeps finished jobs and all events; PgQueuer deletes finished jobs and keeps log rows.
"""


def show(results: Results, console: Console) -> None:
    for table in tables(results):
        drawn = RichTable(*table.header, title=table.title, title_justify="left")
        for row in table.rows:
            drawn.add_row(*(cell.replace("**", "") for cell in row))
        console.print(drawn)


def write(results: Results, databases: list[str]) -> None:
    parts = [_INTRODUCTION, "\n".join(f"- {line}" for line in _circumstances(databases))]
    # The goals first: they are what a reader comes for.
    parts += [_markdown(table) for table in sorted(tables(results), key=lambda table: table.title != GOALS)]
    RESULTS.write_text("\n".join(part.rstrip() + "\n" for part in parts))


def _circumstances(databases: list[str]) -> list[str]:
    return [
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}, {', '.join(databases)}",
        ", ".join(f"{name} {version(name)}" for name in ("towpath", "asyncpg", "apsw", *PEERS)),
    ]


def _markdown(table: Table) -> str:
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    return f"## {table.title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
