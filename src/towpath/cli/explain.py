"""towpath explain: why a job is where it is."""

from __future__ import annotations

from rich.text import Text

from towpath.cli.naming import job_named
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, JobId, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, facts, say_json, state
from towpath.cli.words import age, clock, duration
from towpath.core.lifecycle import TERMINAL, State
from towpath.engine.asking.explain import MOST_COUNTED, Explanation


@finds_data
def explain(job_id: JobId, as_json: AsJson = False, database: Database = None) -> None:
    """Says why a job is where it is, what it waits for, and what to do about it.

    \b
    Examples:
      towpath explain ID
    """
    run(_explain(job_id, as_json, database))


async def _explain(job_id: str, as_json: bool, database: str | None) -> None:
    async with opened(database) as app:
        told, now = await app.explain(await job_named(app, job_id)), await app.now()
    if as_json:
        say_json(plain(told))
        return
    screen = console()
    screen.print(Text.assemble(state(told.state), "  ", clean(told.sentence)))
    rows = [
        ("reason", told.reason),
        ("position", _position(told)),
        ("starts in", _eta(told)),
        (_moment(told), f"{clock(told.until)} ({age(told.until, now)})" if told.until else None),
        ("what to do", told.remedy),
    ]
    screen.print(facts(rows))


def _moment(told: Explanation) -> str:
    """What the moment that belongs to its state is."""
    if told.state == State.RUNNING:
        return "leased until"
    return "ended" if State(told.state) in TERMINAL else "until"


def _position(told: Explanation) -> str | None:
    if told.position is None:
        return None
    return f"over {MOST_COUNTED:,} jobs are before it" if told.position_is_more else f"{told.position:,} before it"


def _eta(told: Explanation) -> str | None:
    if told.eta_seconds is None:
        return None
    low, high = told.eta_seconds
    return f"{duration(low)} to {duration(high)}, at the queue's recent rate"
