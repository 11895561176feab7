"""An open app on each database, with settings that suit tests: short polls, and nothing left in the working directory."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import pytest

from tests.services.postgres import PostgresServer
from towpath import App, Settings

NewApp = Callable[..., App]
_numbers = count(1)


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the engine's tables, to be copied: a quarter of the time of migrating one for each test."""

    async def migrate() -> None:
        settings = Settings(blobs_url=tmp_path_factory.mktemp("blobs").as_uri())
        async with App(postgres_server.create_database("engine_template"), settings=settings):
            pass

    asyncio.run(migrate())
    return "engine_template"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, migrated: str) -> Iterator[str]:
    name = f"engine_{next(_numbers)}"
    yield postgres_server.create_database(name, template=migrated)
    postgres_server.drop_database(name)


@pytest.fixture
def new_app(database_url: str, tmp_path: Path) -> NewApp:
    """Makes apps on the test's database, not opened yet; keyword arguments are settings."""

    def make(*, clock: Callable[[], float] = time.time, **settings: object) -> App:
        chosen = {
            "blobs_url": (tmp_path / "blobs").as_uri(),
            "poll_seconds": 0.2,
            "drain_seconds": 0.2,
            "pool_size": 4,
            **settings,
        }
        return App(database_url, settings=Settings(**chosen), clock=clock)

    return make


@pytest.fixture
async def opened(new_app: NewApp) -> AsyncIterator[Callable]:
    """Like new_app, and opened; closed when the test ends, the last one first."""
    async with AsyncExitStack() as stack:

        async def make(**options: object) -> App:
            return await stack.enter_async_context(new_app(**options))

        yield make


@pytest.fixture
async def app(opened: Callable) -> App:
    return await opened()


@pytest.fixture
def crashed_worker(database_url: str, tmp_path: Path) -> Callable:
    """Runs a worker process on the test's database until it dies of the job it took; see crashing.py."""

    async def run(lease_seconds: float) -> None:
        command = ["-m", "tests.engine.crashing", database_url, (tmp_path / "blobs").as_uri(), str(lease_seconds)]
        process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=Path(__file__).parents[2])
        try:
            assert await asyncio.wait_for(process.wait(), 30) == 9
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    return run
