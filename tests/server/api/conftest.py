"""A server on each database, with people of three tenants."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.server.api.site import Site, opened_site
from tests.services.postgres import PostgresServer
from towpath import App, Settings
from towpath.server import attach

_numbers, _templates = count(1), count(1)


@pytest.fixture(scope="session")
def server_template(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the server's tables, to be copied. Another folder's tests that use it get one of their own."""
    name = f"server_template_{next(_templates)}"

    async def migrate() -> None:
        settings = Settings(blobs_url=tmp_path_factory.mktemp("blobs").as_uri())
        async with attach(App(postgres_server.create_database(name), settings=settings)):
            pass

    asyncio.run(migrate())
    return name


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, server_template: str) -> Iterator[str]:
    name = f"server_{next(_numbers)}"
    yield postgres_server.create_database(name, template=server_template)
    postgres_server.drop_database(name)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")

    async def migrate() -> None:
        settings = Settings(blobs_url=(folder / "blobs").as_uri())
        async with attach(App(f"sqlite:///{folder}/jobs.db", settings=settings)):
            pass

    asyncio.run(migrate())
    return folder / "jobs.db"


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    shutil.copy(sqlite_template, tmp_path / "jobs.db")
    return f"sqlite:///{tmp_path}/jobs.db"


@pytest.fixture
def app(database_url: str, tmp_path: Path) -> App:
    settings = Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)
    return App(database_url, settings=settings)


@pytest.fixture
async def site(app: App) -> AsyncIterator[Site]:
    async with opened_site(app) as site:
        yield site
