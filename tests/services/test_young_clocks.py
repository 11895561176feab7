"""The suite runs as on a machine that has only just been switched on."""

import asyncio
import subprocess
import sys
import time

ASK = "import time, asyncio; print(time.monotonic() < 0, asyncio.new_event_loop().time() < 0)"


async def test_a_clock_of_the_tests_has_only_just_begun() -> None:
    assert time.monotonic() < 0
    assert time.monotonic_ns() < 0
    assert asyncio.get_running_loop().time() < 0


def test_so_has_that_of_a_process_they_start() -> None:
    asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert asked.stdout.split() == ["True", "True"]


def test_it_goes_on_like_any_other() -> None:
    before = time.monotonic()
    deadline = time.perf_counter() + 0.01
    while time.perf_counter() < deadline:
        pass
    assert time.monotonic() > before
