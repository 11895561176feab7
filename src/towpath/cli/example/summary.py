"""The last word of `towpath up`: what came of it, what is in the inbox, and what to try next."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from towpath.cli.example.board import Board, count
from towpath.cli.example.display import OPERATIONS
from towpath.cli.screen import clean, one_line, table
from towpath.cli.words import duration, jobs
from towpath.core.lifecycle import State
from towpath.core.records import Job


@dataclass(slots=True)
class Outcome:
    """How one run went."""

    board: Board
    roots: list[Job]
    inbox: list[Job]
    seconds: float
    data: Path
    url: str


def print_summary(screen: Console, outcome: Outcome) -> None:
    screen.print()
    screen.print(Text(f"{jobs(len(outcome.board.jobs))} in {duration(outcome.seconds)}", "bold"))
    screen.print(_counts(outcome.board))
    screen.print()
    for root in outcome.roots:
        about = (root.result or {}).get("report") or (root.result or {}).get("archive", "")
        style = {"succeeded": "green", "partial": "magenta"}.get(root.state.value, "red")
        screen.print(
            Text.assemble(
                (f"{root.state.value:<10}", style), f"{root.tenant:<6} {root.operation:<16}", (clean(about), "dim")
            )
        )
    _inbox(screen, outcome)
    _next(screen, outcome)


def _counts(board: Board) -> Table:
    grid = table("operation", "succeeded", "partial", "failed", "retried")
    for name in OPERATIONS:
        seen = board.of(name)
        numbers = [count(seen, state) for state in (State.SUCCEEDED, State.PARTIAL, State.FAILED)]
        grid.add_row(name, *[str(number) for number in numbers], str(sum(job.retries for job in seen)))
    return grid


def _inbox(screen: Console, outcome: Outcome) -> None:
    if not outcome.inbox:
        return
    screen.print(Text(f"\nIn the inbox: {jobs(len(outcome.inbox))}", "bold"))
    for job in outcome.inbox:
        error = job.error or {}
        screen.print(Text.assemble(f"  {job.tenant} {job.operation}: ", (one_line(error.get("message", "")), "red")))
        screen.print(f"  what to do: {one_line(error.get('remedy', ''))}")


def _next(screen: Console, outcome: Outcome) -> None:
    example = (outcome.inbox or outcome.roots)[0]
    screen.print(Text("\nNow try", "bold"))
    commands = [
        f"export TOWPATH_DATABASE_URL={shlex.quote(outcome.url)}",
        "towpath jobs list --limit 50",
        f"towpath jobs show {outcome.roots[0].id}",
        f"towpath explain {example.id}",
        "towpath inbox",
        "towpath doctor",
    ]
    _say(screen, commands)
    if outcome.inbox:
        broken = outcome.inbox[0]
        edited = json.dumps(broken.payload | {"encoding": "latin-1"}, ensure_ascii=False)
        screen.print(Text("\nand mend the broken document: its collection is then finished by itself", "bold"))
        mend = [
            f"towpath jobs retry {broken.id} --payload {shlex.quote(edited)}",
            "towpath worker --app towpath.cli.example:app    # Ctrl-C when it is done",
        ]
        _say(screen, mend)
    screen.print(Text(f"\nDocuments, reports, archive and log are in {outcome.data}", "dim"))


def _say(screen: Console, commands: list[str]) -> None:
    """Never broken into lines by us, so that they can be copied."""
    for command in commands:
        screen.print(Text(f"  {command}", "cyan"), soft_wrap=True)
