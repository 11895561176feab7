"""What a worker tells Python's garbage collector. A process has one, so each case is a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, gc, sys
from towpath import App

gc.set_threshold(int(sys.argv[2]), 7, 9)

async def main():
    app, enough = App(sys.argv[1]), asyncio.Event()
    app.operation("greet")(greet)
    enough.set()
    async with app:
        await app.enqueue("greet")
        print(gc.get_threshold(), gc.get_freeze_count() > 0)
        await app.run_worker(stop=enough)
        print(gc.get_threshold(), gc.get_freeze_count() > 0)

async def greet(ctx): ...

asyncio.run(main())
"""


@pytest.mark.parametrize(("young", "then"), [(700, 10_000), (50_000, 50_000), (0, 0)])
def test_it_looks_less_often_once_a_worker_runs_unless_the_program_has_said_so_itself(
    tmp_path: Path, young: int, then: int
) -> None:
    command = [sys.executable, "-c", PROGRAM, f"sqlite:///{tmp_path}/jobs.db", str(young)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()
    assert told == [f"({young}, 7, 9) False", f"({then}, 7, 9) True"]
