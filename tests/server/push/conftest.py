"""A server on each database with people in two tenants, and listeners that are cut off when the test ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from tests.server.push.listening import Listener
from tests.server.push.serving import make_app, serving
from tests.services.postgres import PostgresServer
from tests.services.schedules import by_hand_only
from towpath import App
from towpath.identity import accounts, tokens
from towpath.push import Limits
from towpath.server.assembly import create_app
from towpath.server.options import ServerOptions
from towpath.server.slices import attach

_numbers = count(1)
TokenFor = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def migrated_server(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the server's tables, to be copied: quicker than migrating one for each test."""

    async def migrate() -> None:
        url = postgres_server.create_database("push_template")
        async with attach(make_app(url, tmp_path_factory.mktemp("blobs").as_uri())):
            pass

    asyncio.run(migrate())
    return "push_template"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, migrated_server: str) -> Iterator[str]:
    name = f"push_{next(_numbers)}"
    yield postgres_server.create_database(name, template=migrated_server)
    postgres_server.drop_database(name)


@pytest.fixture
async def app(database_url: str, tmp_path: Path) -> AsyncIterator[App]:
    async with attach(make_app(database_url, (tmp_path / "blobs").as_uri())) as opened:
        await by_hand_only(opened)
        yield opened


@pytest.fixture
async def token_for(app: App) -> TokenFor:
    """The API token of a new account."""

    async def make(tenant: str, *, admin: bool = False, **options: Any) -> str:
        store, name = app.services.store, f"user-{next(_numbers)}"
        account = await accounts.create(store, name, tenants=[tenant], admin=admin)
        secret, _ = await tokens.create(store, account, name="a stream", tenant=tenant, **options)
        return secret

    return make


@pytest.fixture
def limits() -> Limits:
    return Limits(heartbeat=0.1, recheck=0.1, interval=0.01)


@pytest.fixture
def api(app: App, limits: Limits) -> FastAPI:
    return create_app(app, ServerOptions(ui=False, streams=limits))


@pytest.fixture
async def address(api: FastAPI) -> AsyncIterator[str]:
    async with serving(api) as found:
        yield found


@pytest.fixture
async def listen(address: str, token_for: TokenFor) -> AsyncIterator[Callable[..., Awaitable[Listener]]]:
    """A connected listener of a tenant; keyword arguments are the stream's query."""
    async with AsyncExitStack() as stack:

        async def make(tenant: str = "anna", /, *, admin: bool = False, **query: Any) -> Listener:
            listener = Listener(address, await token_for(tenant, admin=admin), query)
            return await stack.enter_async_context(listener.connected())

        yield make
