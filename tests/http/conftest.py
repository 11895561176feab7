"""Sites on each database. PostgreSQL databases are copied from one that is migrated already."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count

import pytest
from pwdlib import PasswordHash

from tests.http.hashing import hash_quickly
from tests.http.site import opened_site
from tests.services.postgres import PostgresServer
from towpath import App, Settings
from towpath.identity import passwords
from towpath.server import attach

_numbers = count(1)


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    async def migrate() -> None:
        settings = Settings(blobs_url=tmp_path_factory.mktemp("blobs").as_uri())
        async with attach(App(postgres_server.create_database("http_template"), settings=settings)):
            pass

    asyncio.run(migrate())
    return "http_template"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, migrated: str) -> Iterator[str]:
    name = f"http_{next(_numbers)}"
    yield postgres_server.create_database(name, template=migrated)
    postgres_server.drop_database(name)


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch):
    """`full_cost` has them as they are otherwise."""
    hash_quickly(monkeypatch)
    yield
    passwords._nobodys.cache_clear()


@pytest.fixture
def full_cost(quick_hashes, monkeypatch):
    monkeypatch.setattr(passwords, "_hasher", PasswordHash.recommended)


@pytest.fixture
async def open_site(sqlite_url, tmp_path):
    """Opens a site on SQLite, with the settings it is given."""
    async with AsyncExitStack() as stack:

        async def make(**options) -> Callable:
            return await stack.enter_async_context(opened_site(sqlite_url, tmp_path, **options))

        yield make


@pytest.fixture
async def site(open_site):
    """A site on SQLite, for what no database decides."""
    return await open_site()


@pytest.fixture
async def any_site(database_url, tmp_path):
    """A site on each database in turn."""
    async with opened_site(database_url, tmp_path) as opened:
        yield opened
