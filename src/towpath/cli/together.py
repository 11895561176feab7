"""A server and a worker in one process, as `towpath up` runs somebody's app, and `towpath demo` its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from towpath.cli.logs import LineFormatter
from towpath.cli.patience import opened_patiently
from towpath.engine.app import App
from towpath.store import private

if TYPE_CHECKING:
    from towpath.cli.serving import ServedApp

_CONCURRENCY = 8


async def run_together(
    app: App,
    host: str,
    port: int,
    *,
    name: str,
    started: Callable[[ServedApp], None],
    begin: Callable[[], Awaitable[None]] | None = None,
    company: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Until a signal. `begin` is done before anybody is served; `company` runs beside the worker, and ends with it."""
    from towpath.cli.addresses import noted
    from towpath.cli.serving import bind, front_of, serve

    async def working() -> None:
        async with asyncio.TaskGroup() as group:
            if company is not None:
                group.create_task(company())
            await app.run_worker(concurrency=_CONCURRENCY, name=name)

    with bind(host, port) as listening:
        async with opened_patiently(app, typer.echo):
            front = await front_of(app, listening, host)
            if begin is not None:
                await begin()
            with noted(app.url, front.address):
                await serve(
                    front.api,
                    listening,
                    on_start=partial(started, front),
                    on_stop=partial(_stopping, app),
                    beside=working,
                )
    typer.echo("stopped")


def _stopping(app: App, again: bool) -> None:
    if not again:
        seconds = f"{app.settings.drain_seconds:g} s"
        typer.echo(f"stopping: jobs that run get {seconds} to finish; Ctrl-C again hands them back now")


def open_in_browser(link: str) -> None:
    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


@contextlib.contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """The log, out of the way of what a person reads here."""
    private.make_file(path)
    private.tighten([path])
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()
