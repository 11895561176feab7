"""Running the server in this process: a port that is ours before anything else, and a stop that leaves nothing behind."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

import uvicorn
from fastapi import FastAPI

from towpath.cli.strangers import how_to_let_in
from towpath.cli.words import program
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App
from towpath.identity.local import check_host, ensure_local_account, has_password_account, make_login_link
from towpath.server import ServerOptions, create_app
from towpath.server.connections import bounds_from, protocol_within
from towpath.server.streams import end_streams

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STREAMS_END_WITHIN = 5


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, so that a taken port is told before a database is opened."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigurationError(_why_not(host, port, error)) from None


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else 0
        return (
            f"port {port} on {host} is taken: if that is Towpath, it runs already, and {program()} login-link, in its "
            f"directory, prints a link to it; if not, choose another one with --port {other}, or make up PORT={other}"
        )
    if error.errno == errno.EACCES:
        return f"port {port} on {host} needs more rights than this process has; choose one above 1023 with --port"
    return f"cannot listen on {host} port {port}: {error.strerror or error}; check --host and --port"


def address_of(listening: socket.socket, host: str) -> str:
    """Where a browser on this machine finds it."""
    shown = host.strip("[]")
    try:
        if ipaddress.ip_address(shown).is_unspecified:
            shown = "localhost"
    except ValueError:
        pass
    port = listening.getsockname()[1]
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


class ServedApp(NamedTuple):
    api: FastAPI
    address: str
    link: str
    """What to open it by: in local mode it logs in."""


async def front_of(app: App, listening: socket.socket, host: str) -> ServedApp:
    """The server for an open app."""
    has_account = await has_password_account(app)
    local = check_host(host, has_account, app.settings.allowed_hosts, remedy=how_to_let_in(app))
    address = (app.settings.base_url or address_of(listening, host) + app.settings.base_path).rstrip("/")
    if local:
        await ensure_local_account(app)
    link = await make_login_link(app, address) if local else f"{address}/"
    return ServedApp(create_app(app, ServerOptions(local=local)), address, link)


class Server(uvicorn.Server):
    """uvicorn, with signals handled our way: it does not end the process when it is done, because a worker beside it may
    still have jobs to hand back. The first signal lets everything end, the second does not wait."""

    def __init__(self, api: FastAPI, *, on_start: Callable[[], None], on_signal: Callable[[bool], None]) -> None:
        super().__init__(
            uvicorn.Config(
                api, log_config=None, access_log=False, server_header=False, proxy_headers=False, lifespan="on", ws="none",
                timeout_graceful_shutdown=_STREAMS_END_WITHIN,
                http=protocol_within(bounds_from(api.state.towpath_app.settings)),
            )
        )  # fmt: skip
        self._on_start, self._on_signal = on_start, on_signal
        self._loop = asyncio.get_running_loop()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # not its own way: see obeying_signals

    @contextmanager
    def obeying_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        again = self.should_exit
        self.should_exit, self.force_exit = True, again
        self._loop.call_soon_threadsafe(self._on_signal, again)


async def serve(
    api: FastAPI,
    listening: socket.socket,
    *,
    on_start: Callable[[], None],
    on_stop: Callable[[bool], None] = lambda _again: None,
    beside: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serves until a signal, and runs `beside` along with it: whichever ends first ends the other.

    `on_stop` is told of every signal, and whether it is a second one. Cancelling `beside` asks it to end, and
    cancelling it again not to wait, as workers take it.
    """
    company: asyncio.Future[None] | None = None

    def signalled(again: bool) -> None:
        end_streams(api)  # the server waits for open answers, and these would never end
        on_stop(again)
        if company is not None:
            company.cancel()

    server = Server(api, on_start=on_start, on_signal=signalled)
    with server.obeying_signals():
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        company = asyncio.ensure_future(beside()) if beside is not None else None
        tasks = {task for task in (serving, company) if task is not None}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            end_streams(api)
            if not server.should_exit:
                server.should_exit = True
                if company is not None:
                    company.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
    _raise_first(results)
    if not server.started:
        raise ConfigurationError("the server did not start; the log says why")


def _raise_first(results: Iterable[object]) -> None:
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result
