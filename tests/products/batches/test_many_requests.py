"""A great many requests are read, ordered, answered and merged in memory that does not grow with them."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.engine.working import on_sqlite

pytestmark = [on_sqlite, pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of its memory from /proc")]
MOST = 24 * 1024
"""KiB that buffers and caches may differ by. As a file a hundred thousand requests are 25 MB, as values many times that."""


async def peaks(url: str, folder: Path, *counts: int) -> list[int]:
    command = ["-m", "tests.products.batches.many", url, (folder / "blobs").as_uri(), *map(str, counts)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=Path(__file__).parents[3], stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    assert process.returncode == 0
    return [int(line) for line in told.split()]


async def test_a_hundred_thousand_requests_take_the_memory_of_ten_thousand(database_url: str, tmp_path: Path):
    few, many = await peaks(database_url, tmp_path, 10_000, 100_000)
    assert many - few < MOST, (few, many)


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_a_million_requests_take_the_memory_of_a_hundred_thousand(database_url: str, tmp_path: Path):
    few, many = await peaks(database_url, tmp_path, 100_000, 1_000_000)
    assert many - few < MOST, (few, many)
