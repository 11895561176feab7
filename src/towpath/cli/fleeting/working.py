"""towpath fleet worker: a process that works on tasks anywhere, with neither a database nor credentials of a cloud."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import platform
import re
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from towpath import config
from towpath.cli.extras import need
from towpath.core.errors import ConfigurationError
from towpath.core.ids import uuid7

log = logging.getLogger("towpath.cli")
TOKEN = "TOWPATH_FLEET_TOKEN"


def worker(
    *,
    server: Annotated[
        str, typer.Option("--server", metavar="URL", help="The server to ask for tasks.", show_default=False)
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token", envvar=TOKEN, metavar="TOKEN", help="Its own, see towpath fleet worker-add.", show_default=False
        ),
    ] = "",
    queue: Annotated[
        str, typer.Option("--queue", metavar="URL", help="The SQS queue that tasks come from.", show_default=False)
    ] = "",
    status: Annotated[
        str, typer.Option("--status", metavar="URL", help="The SQS queue that takes reports.", show_default=False)
    ] = "",
    slots: Annotated[int, typer.Option("--slots", min=1, max=1000, help="How many tasks to work on at once.")] = 1,
    name: Annotated[
        str | None, typer.Option("--name", help="What to call it; host and process id by default.", show_default=False)
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option("--load", metavar="MODULE", help="A module with remote operations of yours.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Where objects lie while they are worked on.", show_default=False),
    ] = None,
) -> None:  # fmt: skip
    """Works on tasks until SIGTERM or Ctrl-C: fetches an object by its URL, does what is asked, stores the result, says so.

    It asks a server with --server and --token, or takes tasks from a queue with --queue and --status; then AWS's own
    variables say how the queues are reached. It needs no database and no bucket. A second Ctrl-C hands back what runs.

    \b
    Examples:
      TOWPATH_FLEET_TOKEN=tow_fleet_… towpath fleet worker --server https://towpath.example
      towpath fleet worker --queue URL --status URL --slots 2
    """
    from towpath.cli.logs import set_up_logs

    need("server", useful=("local",))
    _check(server, token, queue, status)
    set_up_logs(config.load())
    sys.path.insert(0, os.getcwd())
    for module in load or ():
        _load(module)
    called = name or f"{platform.node() or 'worker'}-{os.getpid()}"
    asyncio.run(_work((server, token), (queue, status), called, slots, folder))


def _check(server: str, token: str, queue: str, status: str) -> None:
    if bool(server) == bool(queue):
        raise ConfigurationError("give --server and a token, or --queue and --status")
    if server and not token:
        raise ConfigurationError(f"--server needs the worker's token, by --token or in {TOKEN}")
    if queue and not status:
        raise ConfigurationError("--queue needs --status, the queue that takes what the worker reports")


def _load(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ConfigurationError(f"the module {module!r} could not be loaded: {error}") from None


def _id_of(name: str) -> str:
    """What reports carry: the name as far as an id may have it, and something that tells two of the same name apart."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:50].strip("-")
    return f"{plain or 'worker'}:{uuid7()[-12:]}"


async def _work(
    over_https: tuple[str, str], over_queues: tuple[str, str], name: str, slots: int, folder: Path | None
) -> None:
    from towpath.fleet.node.channel import Channel
    from towpath.fleet.node.node import Node
    from towpath.fleet.node.over_https import OverHttps
    from towpath.fleet.node.over_queues import OverQueues

    channel: Channel = OverHttps(*over_https) if over_https[0] else OverQueues(*over_queues)
    node = Node(channel, _id_of(name), name=name, slots=slots, folder=folder)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, node.stop)
    log.info("worker %s asks %s", name, over_https[0] or "its queue")
    await node.run()
