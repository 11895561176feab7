"""A server on each database with people of two tenants, and things to be found."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tests.models.wire_server import WireServer
from tests.products.knowledge.library import Library, opened_library
from tests.server.api.conftest import server_template, sqlite_template, sqlite_url
from tests.services.postgres import PostgresServer
from towpath import App, Settings

__all__ = ["server_template", "sqlite_template", "sqlite_url"]

_numbers = count(1)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, server_template: str) -> Iterator[str]:
    name = f"knowledge_{next(_numbers)}"
    yield postgres_server.create_database(name, template=server_template)
    postgres_server.drop_database(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest.fixture
async def library(database_url: str, settings: Settings) -> AsyncIterator[Library]:
    async with opened_library(App(database_url, settings=settings)) as library:
        yield library


@pytest.fixture
async def chatting(database_url: str, settings: Settings, wire: WireServer) -> AsyncIterator[Library]:
    """With a chat service."""
    there = replace(settings, chat_url=wire.url, chat_model="m")
    async with opened_library(App(database_url, settings=there)) as library:
        yield library
