from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.interleaving.stage import Stage, open_stage


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[Stage]:
    if database_url.startswith("postgresql"):
        await quick_deadlocks(database_url)
    async with open_stage(database_url) as opened:
        yield opened


@pytest.fixture
async def postgres_stage(postgres_url: str) -> AsyncIterator[Stage]:
    """For what cannot happen on SQLite, where a write transaction is alone."""
    await quick_deadlocks(postgres_url)
    async with open_stage(postgres_url) as opened:
        yield opened


async def quick_deadlocks(url: str) -> None:
    """PostgreSQL looks for deadlocks only after a second of waiting; the tests have less time."""
    connection = await asyncpg.connect(url)
    name = await connection.fetchval("SELECT quote_ident(current_database())")
    await connection.execute(f"ALTER DATABASE {name} SET deadlock_timeout = '50ms'")
    await connection.close()
