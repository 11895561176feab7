"""A short storm of everything on each database; `make chaos` is the same for as long as you like."""

from pathlib import Path

import pytest

from tests.chaos.run import Run
from tests.chaos.storm import Storm
from tests.services.postgres import PostgresServer


@pytest.mark.parametrize("seed", [1])
async def test_nothing_is_broken_by_a_short_storm_on_sqlite(seed: int, sqlite_url: str, tmp_path: Path) -> None:
    async with Run(sqlite_url, tmp_path, seed=seed) as run:
        await Storm(run).blow(3)
        run.judge()


@pytest.mark.parametrize("seed", [2])
async def test_nothing_is_broken_by_a_short_storm_on_postgres(
    seed: int, postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path, seed=seed) as run:
        await Storm(run, postgres_server).blow(3)
        run.judge()
