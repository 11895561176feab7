"""A server on a port of its own with a worker beside it, in the tests' own event loop: a test can reach into both."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from tests.browser.hostile import add_hostile, hostile
from tests.browser.works import Works
from tests.engine.working import ended, in_state, working
from tests.services.schedules import by_hand_only
from towpath import App, Job, Settings
from towpath.identity import accounts, links, passwords, tokens
from towpath.server import create_app
from towpath.server.streams import end_streams

_numbers = count(1)


class Place:
    """`address` is where a browser finds it."""

    def __init__(self, app: App, address: str) -> None:
        self.app, self.address = app, address
        self.works = Works(app)
        add_hostile(app)

    async def person(self, name: str, *tenants: str, admin: bool = False, password: str | None = None) -> str:
        """Makes an account; answers a link that logs it in."""
        hashed = await passwords.hashed(password) if password else None
        made = await accounts.create(self.app.services.store, name, tenants=tenants, admin=admin, password=hashed)
        return await self.link(made.name)

    async def link(self, name: str) -> str:
        """Another one for somebody who is known."""
        account = await accounts.find_by_name(self.app.services.store, name)
        secret, _ = await links.make(self.app.services.store, account.id, "login")
        return links.url_of(self.address, "login", secret)

    @asynccontextmanager
    async def client(self, tenant: str) -> AsyncIterator[httpx.AsyncClient]:
        """A program of somebody in this tenant."""
        store = self.app.services.store
        account = await accounts.create(store, fresh("program"), tenants=[tenant], admin=False)
        secret, _ = await tokens.create(store, account, name="test")
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(base_url=self.address, headers=headers, timeout=60) as client:
            yield client

    async def make(self, operation: str, payload: Any, tenant: str, **options: Any) -> Job:
        return await self.app.enqueue(operation, payload, tenant=tenant, **options)

    async def running(self, tenant: str, miles: int = 4) -> Job:
        """A haul under way that has not passed its first mile."""
        return await in_state(self.app, await self.make("haul", {"miles": miles}, tenant), "running")

    async def done(self, operation: str, payload: Any, tenant: str, **options: Any) -> Job:
        return await ended(self.app, await self.make(operation, payload, tenant, **options))

    async def becomes(self, job: Job, state: str) -> Job:
        return await in_state(self.app, job, state)


def fresh(word: str) -> str:
    """A name that no other test has."""
    return f"{word}-{next(_numbers)}"


class _Server(uvicorn.Server):
    """Leaves the signals of the test process alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def opened_place(
    folder: Path, *, prepare: Callable[[App], None] = lambda app: None, **more: Any
) -> AsyncIterator[Place]:
    """`prepare` is called before the app is opened; `more` are settings."""
    settings = Settings(
        blobs_url=(folder / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.1, allow_private_urls=True,
        **more,
    )  # fmt: skip
    app = App(f"sqlite:///{folder}/jobs.db", settings=settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        place = Place(app, f"http://127.0.0.1:{listening.getsockname()[1]}")
        api = create_app(app)
        prepare(app)
        async with app, _served(api, listening):
            await by_hand_only(app)
            async with working(app, concurrency=16, name=hostile("barge")):
                yield place


@asynccontextmanager
async def _served(api: FastAPI, listening: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(api, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=10)
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        end_streams(api)
        server.should_exit = True
        await asyncio.wait_for(serving, 30)
