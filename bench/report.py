"""The same tables for the terminal and for RESULTS.md."""

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

from bench.goals import judge
from bench.plan import PEERS
from bench.recordings import LIBRARY
from bench.results import Results

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


@dataclass(frozen=True)
class Table:
    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def tables(results: Results) -> list[Table]:
    found = [
        Table(
            "Throughput",
            ("database", "measured", "system", "jobs/s", "of the floor"),
            [
                (
                    line.database,
                    str(line.case),
                    line.system,
                    f"{line.rate:,.0f}",
                    "1" if line.system == "floor" else f"{line.ratio:.3g} ({line.lowest:.3g}–{line.highest:.3g})",
                )
                for line in results.throughput
            ],
        ),
        Table(
            "Jobs of a millisecond in a few slots; PgQueuer takes as many at a time",
            ("database", "slots", "system", "jobs/s", "of PgQueuer"),
            [
                (
                    line.database,
                    str(line.slots),
                    line.system,
                    f"{line.rate:,.0f}",
                    "1" if line.system == "pgqueuer" else f"{line.ratio:.3g} ({line.lowest:.3g}–{line.highest:.3g})",
                )
                for line in results.short_jobs
            ],
        ),
        Table(
            "Pruning in the process of a worker at full speed",
            ("database", "pruned/s", "drained/s", "ratio"),
            [
                (line.database, f"{line.pruned:,.0f}", f"{line.drained:,.0f}", f"{line.ratio:.2f}")
                for line in results.pruning
            ],
        ),
        Table(
            "Pick-up latency, enqueue and worker in different processes",
            ("database", "system", "p50 ms", "p99 ms"),
            [(line.database, line.system, f"{line.p50:.1f}", f"{line.p99:.1f}") for line in results.pickup],
        ),
        Table(
            "A new database from its first job on, 32 slots, jobs sent one by one",
            ("database", "seconds", "jobs/s in the first third", "in the last third", "of the first"),
            [
                (line.database, f"{line.seconds:g}", f"{line.first:,.0f}", f"{line.last:,.0f}", f"{line.ratio:.2f}")
                for line in results.fresh
            ],
        ),
        Table(
            "Cost of claiming 100 jobs",
            ("database", "system", "situation", "median ms", "p95 ms", "of the smallest"),
            [
                (
                    line.database,
                    line.system,
                    line.situation,
                    f"{line.median:.2f}",
                    f"{line.p95:.2f}",
                    f"{line.ratio:.2f}",
                )
                for line in results.claims
            ],
        ),
        Table(
            "Events to open streams, from the enqueue to the client; some fifty jobs a second",
            ("database", "streams", "deliveries", "p50 ms", "p99 ms"),
            [
                (line.database, str(line.streams), f"{line.deliveries:,}", f"{line.p50:.1f}", f"{line.p99:.1f}")
                for line in results.fan_out
            ],
        ),
        Table(
            "Endpoints by number of jobs in the table, four connections",
            ("database", "endpoint", "jobs", "requests/s", "p50 ms", "p99 ms", "p50 of the smaller", "p99 of the smaller"),
            [
                (
                    line.database,
                    f"GET {line.path}",
                    f"{line.jobs:,}",
                    f"{line.rate:,.0f}",
                    f"{line.p50:.2f}",
                    f"{line.p99:.2f}",
                    f"{line.ratio:.2f}",
                    f"{line.p99_ratio:.2f}",
                )
                for line in results.endpoints
            ],
        ),
        Table(
            "Transcription, from an upload to its transcript; worker processes that hear one window at a time",
            ("database", "system", "speech", "seconds of audio/s", "of the speech library", "computing"),
            [
                (
                    line.database,
                    line.system,
                    f"{line.minutes:g} min",
                    f"{line.rate:.1f}",
                    "1" if line.system == LIBRARY else f"{line.ratio:.3g} ({line.lowest:.3g}–{line.highest:.3g})",
                    f"{line.computing:.2f}",
                )
                for line in results.transcriptions
            ],
        ),
        Table(
            "One person's minute behind another's backlog, 2 workers",
            ("database", "backlog", "alone", "behind it", "ratio", "heard of the backlog meanwhile"),
            [
                (
                    line.database,
                    f"{line.backlog_hours:g} h",
                    f"{line.alone:.1f} s",
                    f"{line.behind:.1f} s",
                    f"{line.behind / line.alone:.1f}",
                    f"{line.heard / 60:.1f} of {line.backlog_hours * 60:.0f} min",
                )
                for line in results.turns
            ],
        ),
        Table(
            "What people are told about their wait, over a mixed hour with a pause and a worker that goes and comes",
            (
                "database",
                "an hour in",
                "seed",
                "recordings",
                "looks",
                "truth in the range",
                "sooner",
                "later",
                "range",
                "reasons",
            ),
            [
                (
                    line.database,
                    f"{line.seconds:g} s",
                    str(line.seed),
                    str(line.recordings),
                    f"{line.looks:,}",
                    f"{line.right:.1%}",
                    f"{line.sooner:.1%}",
                    f"{1 - line.right - line.sooner:.1%}",
                    f"1 to {line.width:.1f}",
                    f"{line.reasons:,}",
                )
                for line in results.waits
            ],
        ),
        Table(
            "Goals",
            ("database", "goal", "found", ""),
            [(goal.database, goal.text, goal.found, "met" if goal.met else "**not met**") for goal in judge(results)],
        ),
    ]
    return [table for table in found if table.rows]


def show(results: Results, console: Console) -> None:
    for table in tables(results):
        drawn = RichTable(*table.header, title=table.title, title_justify="left")
        for row in table.rows:
            drawn.add_row(*(cell.replace("**", "") for cell in row))
        console.print(drawn)


def write(results: Results, databases: list[str]) -> None:
    parts = [_INTRODUCTION, "\n".join(f"- {line}" for line in _circumstances(databases))]
    # The goals first: they are what a reader comes for.
    parts += [_markdown(table) for table in sorted(tables(results), key=lambda table: table.title != "Goals")]
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
