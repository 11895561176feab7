"""The live picture of `towpath up`: operations, tenants, what runs now, what happened last."""

from __future__ import annotations

import time

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from towpath.cli.example.board import Board, Line, Seen, count, ended
from towpath.cli.example.documents import SHELVES
from towpath.cli.screen import STATE_STYLES, clean
from towpath.cli.words import time_of_day
from towpath.core.lifecycle import State

OPERATIONS = ("collection.read", "document.read", "collection.pack", "document.pack")
_SLOTS = 4
_LEVEL_STYLES = {"warning": "yellow", "error": "red"}
_FIXED_LINES = 2 + len(OPERATIONS) + 2 + len(SHELVES) + 2 + _SLOTS + 3


class Display:
    """Renders the board as it is at that moment."""

    def __init__(self, board: Board, url: str) -> None:
        self._board, self._url, self._began = board, url, time.monotonic()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= 100
        room = max(2, console.size.height - _FIXED_LINES - 1)
        yield Group(
            self._title(),
            Text(),
            self._operations(wide),
            Text(),
            self._tenants(wide),
            Text(),
            self._running(wide),
            Text(),
            *[told(line) for line in list(self._board.tail)[-min(room, 12) :]],
        )

    def _title(self) -> Text:
        spent = time.monotonic() - self._began
        return Text.assemble(("Towpath", "bold cyan"), f"  {spent:4.1f} s  ", (clean(self._url), "dim"))

    def _operations(self, wide: bool) -> Table:
        grid = _grid("operation", "progress", "queued", "running", "waiting", "done", "failed", "retries")
        for name in OPERATIONS:
            jobs = self._board.of(name)
            numbers = (
                _number(count(jobs, State.QUEUED), STATE_STYLES["queued"]),
                _number(count(jobs, State.RUNNING), STATE_STYLES["running"]),
                _number(count(jobs, State.WAITING), STATE_STYLES["waiting"]),
                _number(count(jobs, State.SUCCEEDED, State.PARTIAL), STATE_STYLES["succeeded"]),
                _number(count(jobs, State.FAILED), STATE_STYLES["failed"]),
                _number(sum(seen.retries for seen in jobs), "yellow"),
            )
            grid.add_row(name, _bar(ended(jobs), len(jobs), 30 if wide else 12), *numbers)
        return grid

    def _tenants(self, wide: bool) -> Table:
        grid = _grid("tenant", "jobs ended", "")
        for shelf in SHELVES:
            jobs = self._board.of_tenant(shelf.tenant)
            grid.add_row(shelf.tenant, _bar(ended(jobs), len(jobs), 60 if wide else 40), f"{ended(jobs)} of {len(jobs)}")
        return grid

    def _running(self, wide: bool) -> Table:
        grid = _grid("running now", "tenant", "document", "progress")
        rows: list[Seen | None] = [*self._board.running()[:_SLOTS]]
        for seen in [*rows, *[None] * (_SLOTS - len(rows))]:
            if seen is None:
                grid.add_row("", "", "", "")
            else:
                grid.add_row(
                    seen.operation, seen.tenant, clean(seen.label), _bar(seen.current, seen.total, 40 if wide else 24)
                )
        return grid


def told(line: Line) -> Text:
    style = _LEVEL_STYLES.get(line.level, "")
    head = f"{time_of_day(line.at)}  {line.tenant:<6} {line.what:<16}"
    return Text.assemble((head, "dim"), (clean(line.text), style), no_wrap=True, overflow="ellipsis")


def _grid(*columns: str) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        grid.add_column(
            name, no_wrap=True, min_width=16 if name in ("operation", "running now") else 6 if name == "tenant" else None
        )
    return grid


def _number(value: int, style: str) -> Text:
    return Text(str(value), style if value else "dim")


def _bar(done: float, total: float | None, width: int) -> ProgressBar:
    return ProgressBar(
        total=total or 1.0, completed=done if total else 0.0, width=width, complete_style="cyan", finished_style="green"
    )
