"""A server on each database, people, a worker at hand, and services on loopback."""

from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.recordings.studio import Studio, opened_studio
from tests.server.api.conftest import server_template, sqlite_template, sqlite_url
from tests.services.postgres import PostgresServer
from towpath import App, Settings

__all__ = ["server_template", "sqlite_template", "sqlite_url"]

_numbers = count(1)
SECRET = "what encrypts the keys of these tests"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, server_template: str) -> Iterator[str]:
    name = f"choices_{next(_numbers)}"
    yield postgres_server.create_database(name, template=server_template)
    postgres_server.drop_database(name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4, secret_key=SECRET,
        models_dir=str(tmp_path / "models"), model_timeout_seconds=10.0,
    )  # fmt: skip


@pytest.fixture
async def studio(database_url: str, settings: Settings) -> AsyncIterator[Studio]:
    async with opened_studio(App(database_url, settings=settings)) as studio:
        yield studio


@pytest.fixture
def wire() -> Iterator[WireServer]:
    """Speaks both of OpenAI's wire protocols: it hears `Guten Morgen` in German, and chats."""
    with WireServer() as server:
        server.always = answering
        yield server


def answering(asked: Asked) -> Answer:
    if asked.path.endswith("/audio/transcriptions"):
        said = [{"start": 0.0, "end": 0.9, "text": " Guten Morgen."}]
        return Answer({"text": "Guten Morgen.", "language": "german", "segments": said})
    return Answer({"model": "m", "choices": [{"message": {"content": "Ready."}, "finish_reason": "stop"}]})
