"""towpath demo: something to look at that is not real, and cannot be mistaken for it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from towpath import config
from towpath.cli.data import database_in, options_for
from towpath.cli.demo.place import DATA, check_place, make_place
from towpath.cli.extras import missing_of, need
from towpath.cli.opening import run
from towpath.cli.serve import DEFAULT_PORT, Port
from towpath.cli.together import logged_to, open_in_browser, run_together
from towpath.cli.words import program

if TYPE_CHECKING:
    from towpath.cli.serving import ServedApp
    from towpath.engine.app import App

app = typer.Typer(no_args_is_help=True)

_HOST = "127.0.0.1"
_POLL_SECONDS = 5.0
_ANSWER_IS_LOST_AFTER = 10.0
_SHORTEST = 1.0
_NOWHERE_ELSE = {
    "NO_PROXY": "*", "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}  # fmt: skip
"""What libraries would otherwise look for outside of the environment: a system's proxies, files in the home directory."""


@app.callback()
def demo() -> None:
    """Shows Towpath at work on things that are made up.

    \b
    Examples:
      towpath demo batches
    """


@app.command("batches")
def batches(
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="A folder for the demonstration alone, made if missing.")
    ] = DATA,
    port: Port = DEFAULT_PORT,
    speed: Annotated[
        float, typer.Option("--speed", min=0.1, max=100.0, help="How many times as fast as usual everything goes.")
    ] = 1.0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the log-in link in a browser.")] = False,
) -> None:
    """Shows batches at every batch provider at once, with what goes wrong there: partial success, refusals, lost answers.

    The providers are stand-ins on this machine that speak as the real ones do. Nothing is asked of anybody else, and
    nothing is paid for: credentials, endpoints and settings of the environment are not looked at. Within two minutes there
    are batches that are completed, partly completed and failed, one that waits for money, and one that waits for your word.
    It runs until Ctrl-C. Started again on the same folder it keeps what has ended, and begins anew.

    \b
    Examples:
      towpath demo batches
      towpath demo batches --speed 5 --open
      towpath demo batches --data elsewhere --port 9000
    """
    need("server")
    from towpath.cli.demo.stage import check_libraries

    folder = data.absolute()
    check_libraries()
    check_place(folder)
    with config.hidden_environment(**_NOWHERE_ELSE):
        make_place(folder)
        with logged_to(folder / "towpath.log"):
            _run(folder, port, speed, open_browser)


def _run(folder: Path, port: int, speed: float, open_browser: bool) -> None:
    from towpath.cli.demo.showing import Show
    from towpath.cli.demo.stage import Stage

    with (
        Stage(patience=max(_SHORTEST, _ANSWER_IS_LOST_AFTER / speed)) as stage,
        config.hidden_environment(**_NOWHERE_ELSE, **stage.bucket.environment),
    ):
        made = _app(folder, speed)
        show = Show(made, stage, speed, typer.echo)
        started = partial(_started, folder, made.url, open_browser)
        run(run_together(made, _HOST, port, name="towpath demo", started=started, begin=show.prepare, company=show.play))


def _app(folder: Path, speed: float) -> App:
    """Its settings are its own, down to the last. Private addresses are allowed because there are no others: nobody asks
    for what is at them, except the stand-ins, which do not."""
    from towpath.cli.demo.bucket import STAGING_URL
    from towpath.cli.demo.scenes import BUCKET
    from towpath.engine.app import App

    settings = config.Settings(
        poll_interval_seconds=_POLL_SECONDS / speed, provider_call_seconds=_ANSWER_IS_LOST_AFTER, drain_seconds=_SHORTEST,
        staging_url="" if missing_of("google") else STAGING_URL, input_buckets=f"s3://{BUCKET},gs://{BUCKET}",
        allow_private_urls=True,
    )  # fmt: skip
    return App(database_in(folder), settings=settings)


def _started(folder: Path, url: str, open_browser: bool, front: ServedApp) -> None:
    link = f"{front.link}&next=/batches"
    typer.echo(
        "This is a demonstration: the providers are played on this machine, nothing leaves it, and nothing is paid for.\n"
        f"Everything is in {folder}, which nothing else uses\n\n  {link}\n\n"
        f"The link works once; another one: {program()} login-link{options_for(url)}\nCtrl-C stops it.\n"
    )
    if open_browser:
        open_in_browser(link)
