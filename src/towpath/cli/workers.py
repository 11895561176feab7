"""towpath workers: who works, and who fell silent."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text

from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, say_json, table
from towpath.cli.words import age
from towpath.core.records import WorkerRow
from towpath.engine.asking.liveness import is_alive


@finds_data
def workers(as_json: AsJson = False, database: Database = None) -> None:
    """Lists workers of the last day: the queues they serve, how busy they are, when they were last heard of.

    \b
    Examples:
      towpath workers
      towpath workers --json | jq -r '.[] | select(.state == "silent") | .name'
    """
    run(_list(as_json, database))


async def _list(as_json: bool, database: str | None) -> None:
    async with opened(database) as app:
        found, now = await app.workers(), await app.now()
    if as_json:
        say_json([plain(row) | {"state": _state(row, now)} for row in found])
        return
    grid = table("name", "state", "queues", "running", "version", "started", "heard")
    for row in found:
        state = _state(row, now)
        style = {"alive": "green", "silent": "red"}.get(state, "dim")
        busy = f"{row.running} of {row.concurrency}"
        times = age(row.started_at, now), age(row.stopped_at or row.seen_at, now)
        grid.add_row(clean(row.name), Text(state, style), clean(", ".join(row.queues)), busy, clean(row.version), *times)
    console().print(grid if found else "no worker has been here; start one: towpath worker --app module:app")


def _state(row: WorkerRow, now: datetime) -> str:
    if row.stopped_at is not None:
        return "stopped"
    return "alive" if is_alive(row.seen_at, row.alive_until, row.stopped_at, now) else "silent"
