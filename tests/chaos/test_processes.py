"""The fleet itself: whatever happens to a run, its processes end with it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.chaos.run import Run
from tests.services.postgres import alive, wait_until

_OWNER = """
import asyncio, sys
from pathlib import Path
from tests.chaos.run import Run

async def main():
    async with Run(sys.argv[1], Path(sys.argv[2])) as run:
        worker = run.fleet.worker()
        await run.until_seen("worker")
        worker.pause()
        print(worker.pid, run.fleet.worker().pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_failing_run_ends_its_processes(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Run(sqlite_url, tmp_path) as run:
            workers = [run.fleet.worker(), run.fleet.worker(freeze="tx.commit:1")]
            await run.until(lambda: workers[1].frozen, "the worker froze")
            raise ZeroDivisionError
    assert not [worker for worker in workers if worker.alive]


async def test_the_processes_of_a_run_that_was_killed_end_by_themselves(sqlite_url: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER, sqlite_url, str(tmp_path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as owner:
        assert owner.stdout is not None
        line = await asyncio.wait_for(asyncio.to_thread(owner.stdout.readline), 30)
        members = [psutil.Process(int(pid)) for pid in line.split()]
        os.kill(owner.pid, signal.SIGKILL)
    await asyncio.to_thread(wait_until, lambda: not any(map(alive, members)), 10)
    assert not any(map(alive, members))
