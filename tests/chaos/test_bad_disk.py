"""A disk that cannot be read for a moment: callers are refused while it lasts, and the writer lives on."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.chaos.run import Run
from towpath.core.errors import StoreUnavailable


class FailingDisk(apsw.VFS):
    """The ordinary file system, with reads that fail while `broken` is set."""

    def __init__(self, ordinary: str) -> None:
        self.ordinary, self.broken = ordinary, False
        super().__init__("failing", base=ordinary, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> "FailingFile":  # noqa: N802  (SQLite's own name)
        return FailingFile(self, name, flags)


class FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__(disk.ordinary, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if self._disk.broken:
            raise apsw.IOError("the disk does not answer")
        return super().xRead(amount, offset)


@pytest.fixture
def failing_disk() -> Iterator[FailingDisk]:
    ordinary = apsw.vfs_names()[0]
    disk = FailingDisk(ordinary)
    yield disk
    disk.unregister()
    apsw.set_default_vfs(ordinary)


async def test_a_writer_outlives_a_disk_that_fails_for_a_moment(
    failing_disk: FailingDisk, sqlite_url: str, tmp_path: Path
) -> None:
    async with Run(sqlite_url, tmp_path) as run:
        await run.client.enqueue("plain")
        failing_disk.broken = True
        other = run.fleet.client()  # another process writes, so that this one has something new to read
        assert await asyncio.to_thread(other.wait, 20) == 0, other.output()
        async with asyncio.timeout(10):
            with pytest.raises(StoreUnavailable, match="does not answer"):
                await run.client.enqueue("plain")
        failing_disk.broken = False
        async with asyncio.timeout(10):
            await run.client.enqueue("plain")
        run.fleet.worker(concurrency=8)
        await run.quiesce()
        run.judge()
