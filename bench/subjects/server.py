"""Towpath's server as people run it: on one database, in a process of its own, with an administrator's token."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from bench.contender import DatabaseKind, EventLoop
from bench.processes import free_port, running
from towpath import App
from towpath.identity import accounts, tokens
from towpath.server import ServerOptions, attach, create_app

TENANT = "bench"
OPERATION = "bench"
QUEUE = "bench"


@dataclass(frozen=True)
class Server:
    database: DatabaseKind
    name: str = "server"
    event_loop: EventLoop = "uvloop"

    async def install(self, url: str) -> None:
        async with make_app(url):
            pass  # opening it applies the migrations


@dataclass(frozen=True)
class Address:
    port: int
    token: str

    def request(self, path: str) -> bytes:
        lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self.token}", "", "")
        return "\r\n".join(lines).encode()


def make_app(url: str) -> App:
    app = App(url)

    @app.operation(OPERATION, queue=QUEUE, public=True)
    async def nothing(ctx: object, payload: object) -> None: ...

    return attach(app)


async def make_token(url: str) -> str:
    async with make_app(url) as app:
        account = await accounts.create(app.services.store, "bench", tenants=[TENANT], admin=True)
        secret, _ = await tokens.create(app.services.store, account, name="bench")
        return secret


@contextmanager
def server_at(url: str, token: str) -> Iterator[Address]:
    """A server process that answers."""
    port = free_port()
    with running(serve, url, port=port):
        yield Address(port, token)


def serve(url: str, port: int) -> None:
    api = create_app(make_app(url), ServerOptions(ui=False))
    uvicorn.run(api, host="127.0.0.1", port=port, loop="uvloop", log_config=None)
