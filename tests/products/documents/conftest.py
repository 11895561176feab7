"""A server on each database with people of two tenants, and a worker at hand."""

from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.products.documents.library import Library, opened_library
from tests.server.api.conftest import server_template, sqlite_template, sqlite_url
from tests.services.postgres import PostgresServer
from towpath import App, Settings

__all__ = ["server_template", "sqlite_template", "sqlite_url"]

_numbers = count(1)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, server_template: str) -> Iterator[str]:
    name = f"documents_{next(_numbers)}"
    yield postgres_server.create_database(name, template=server_template)
    postgres_server.drop_database(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)


@pytest.fixture
async def library(database_url: str, settings: Settings) -> AsyncIterator[Library]:
    async with opened_library(App(database_url, settings=settings)) as library:
        yield library
