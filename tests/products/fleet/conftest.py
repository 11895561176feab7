"""A server on each database with people of three tenants, and remote workers to let in."""

from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.products.fleet.yard import Yard, opened_yard
from tests.server.api.conftest import server_template, sqlite_template, sqlite_url
from tests.services.postgres import PostgresServer
from towpath import App, Settings

__all__ = ["server_template", "sqlite_template", "sqlite_url"]

_numbers = count(1)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, server_template: str) -> Iterator[str]:
    name = f"fleet_{next(_numbers)}"
    yield postgres_server.create_database(name, template=server_template)
    postgres_server.drop_database(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)


@pytest.fixture
async def yard(database_url: str, settings: Settings) -> AsyncIterator[Yard]:
    async with opened_yard(App(database_url, settings=settings)) as yard:
        yield yard
