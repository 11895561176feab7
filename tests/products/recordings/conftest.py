"""A server on each database with people of two tenants, a worker at hand, and recordings to send."""

from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import Studio, opened_studio
from tests.server.api.conftest import server_template, sqlite_template, sqlite_url
from tests.services.postgres import PostgresServer
from towpath import App, Settings

__all__ = ["server_template", "sqlite_template", "sqlite_url"]

_numbers = count(1)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, server_template: str) -> Iterator[str]:
    name = f"recordings_{next(_numbers)}"
    yield postgres_server.create_database(name, template=server_template)
    postgres_server.drop_database(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)


@pytest.fixture
async def studio(database_url: str, settings: Settings) -> AsyncIterator[Studio]:
    async with opened_studio(App(database_url, settings=settings)) as studio:
        yield studio


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    return Ear.instead(monkeypatch)
