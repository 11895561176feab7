"""towpath doctor: what is wrong, and what to do about it."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.text import Text

from towpath.cli import decoder_checkup, extraction_checkup, provider_checkup
from towpath.cli.data import exists, how_to_find, options_for
from towpath.cli.installation import check_installation
from towpath.cli.opening import app_for, run
from towpath.cli.options import AppWithSlices, AsJson, Database, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, say_json
from towpath.cli.words import program
from towpath.core.errors import TowpathError
from towpath.core.masking import masked
from towpath.engine.app import App
from towpath.engine.asking.findings import Finding, Level, note, ok, problem

_CLOCK_TOLERANCE, _CLOCK_WRONG = 1.0, 60.0
_MARKS = {Level.OK: ("✓", "green"), Level.NOTE: ("•", "yellow"), Level.PROBLEM: ("✗", "red")}


@finds_data
def doctor(
    app_path: AppWithSlices = None,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider", metavar="NAME", help="Check this batch provider instead, such as OPENAI.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Checks the installation, what opens files, the database, clocks, disk space, and for stuck jobs. Says what to do.

    With --provider it checks one batch provider, live: that its library is installed, that there are credentials, and that
    the provider takes them, by one request that orders nothing and costs nothing. The environment is this one; workers that
    run elsewhere have their own. No key is ever printed.

    Exit code 1 if a problem was found. It changes nothing.

    \b
    Examples:
      towpath doctor
      towpath doctor --database postgresql://user@host/name --json
      towpath doctor --provider OPENAI
      towpath doctor --provider AZURE --app shop.jobs:app
    """
    examined = provider_checkup.checkup(app_for(database, app_path), provider) if provider else _examine(app_path, database)
    findings = run(examined)
    if as_json:
        say_json([plain(finding) for finding in findings])
    else:
        _print(findings)
    if any(finding.level is Level.PROBLEM for finding in findings):
        raise typer.Exit(1)


async def _examine(app_path: str | None, database: str | None) -> list[Finding]:
    app = app_for(database, app_path)
    return [
        *check_installation(app.url, app.settings),
        *await decoder_checkup.checkup(),
        *await extraction_checkup.checkup(),
        *await _database(app),
    ]


async def _database(app: App) -> list[Finding]:
    where = masked(app.url)
    if not exists(app.url):
        return [problem("database", f"there is none at {where}", how_to_find(app.url))]
    try:
        missing = await app.pending_migrations()
        if missing:
            remedy = f"{program()} migrate{options_for(app.url)}, or start a worker of this version"
            return [ok("database", f"{where} answers"), problem("migrations", f"{len(missing)} are missing", remedy)]
        # Opened without the app's own operations and schedules, so that nothing is written.
        async with app_for(app.url) as bare:
            return [
                ok("database", f"{where} answers"),
                ok("migrations", "none is missing"),
                await _clocks(bare),
                *await bare.checkup(),
            ]
    except TowpathError as error:
        return [problem("database", f"{where} cannot be used: {error}", "see above; then run towpath doctor again")]


async def _clocks(app: App) -> Finding:
    """Leases and deadlines are in the database's time; ids and logs are in this machine's."""
    if app.url.startswith("sqlite:"):
        return ok("clock", "SQLite uses this machine's clock")
    before = time.time()
    there = (await app.now()).timestamp()
    after = time.time()
    seconds = there - (before + after) / 2
    if abs(seconds) <= _CLOCK_TOLERANCE + (after - before) / 2:
        return ok("clock", "this machine and the database agree")
    direction = "behind" if seconds > 0 else "ahead of"
    message = f"this machine is {abs(seconds):.1f} s {direction} the database"
    remedy = "set both clocks by NTP: ids, and with them the order of lists, are made by the clock of whoever enqueues"
    return problem("clock", message, remedy) if abs(seconds) > _CLOCK_WRONG else note("clock", message, remedy)


def _print(findings: list[Finding]) -> None:
    screen = console()
    for finding in findings:
        mark, style = _MARKS[finding.level]
        screen.print(Text.assemble((f"{mark} ", style), (f"{finding.topic:<12} ", "bold"), clean(finding.message)))
        if finding.remedy:
            screen.print(Text(f"  {'':<12} → {clean(finding.remedy)}", style))
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    notes = sum(finding.level is Level.NOTE for finding in findings)
    verdict = f"{problems} problem{'s' if problems != 1 else ''}, {notes} thing{'s' if notes != 1 else ''} to know"
    screen.print(Text(f"\n{verdict}", "red" if problems else "green"))
