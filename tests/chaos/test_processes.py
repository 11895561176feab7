"""The fleet itself: whatever happens to a run, its processes end with it."""

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
    run = Run(sqlite_url, tmp_path)

    async def fail() -> None:
        async with run:
            run.fleet.worker()
            frozen = run.fleet.worker(freeze="tx.commit:1")
            await run.until(lambda: frozen.frozen, "the worker froze")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert len(run.fleet.members) == 2
    assert not run.fleet.alive


def test_the_processes_of_a_run_that_was_killed_end_by_themselves(sqlite_url: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER, sqlite_url, str(tmp_path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as owner:
        assert owner.stdout is not None
        members = [psutil.Process(int(pid)) for pid in owner.stdout.readline().split()]
        assert len(members) == 2
        os.kill(owner.pid, signal.SIGKILL)
    wait_until(lambda: not any(map(alive, members)), 10)
    assert not any(map(alive, members))
