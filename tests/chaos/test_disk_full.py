"""SQLite on a full disk: refused with a clear word, nothing half-written, and well again once there is room."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.run import Run
from towpath.core.errors import StoreUnavailable
from towpath.core.lifecycle import State


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two MiB. Only root can make one; where that is so and CI=true, it must not be left out."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        if os.geteuid() == 0 and os.environ.get("CI") == "true":
            pytest.fail(f"as root with CI=true a small disk must be possible: {mounted.stderr.strip()}", pytrace=False)
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


async def test_a_full_disk_refuses_work_and_recovers(small_disk: Path, tmp_path: Path) -> None:
    async with Run(f"sqlite:///{small_disk}/jobs.db", tmp_path) as run:
        kept = [await run.client.enqueue("plain") for _ in range(5)]
        refusal = await _fill(run)
        assert "disk is full" in str(refusal)
        with pytest.raises(StoreUnavailable):
            await run.client.enqueue_many([("plain", {"blob": "x" * 20_000}, {})] * 20)
        await run.app.get(kept[0])  # reading goes on

        early = run.fleet.worker()  # it wants to write down its schedules
        assert await asyncio.to_thread(early.wait, 20) == 1
        assert "the disk is full" in early.output()
        (small_disk / "ballast").unlink()
        kept.append(await run.client.enqueue("steps"))
        run.fleet.worker()
        await run.quiesce()
        history = run.judge()
        assert {history.jobs[job_id].state for job_id in kept} == {State.SUCCEEDED}


async def _fill(run: Run) -> StoreUnavailable:
    """Takes all the room that is left, to the last page, and answers what the engine then says."""
    disk = Path(run.url.removeprefix("sqlite:///")).parent
    with (disk / "ballast").open("wb", buffering=0) as ballast:
        for size in (4096, 512, 1):
            try:
                while True:
                    ballast.write(bytes(size))
            except OSError:
                continue
    for _ in range(500):
        try:
            await run.client.enqueue("plain", {"blob": "x" * 2000})
        except StoreUnavailable as refusal:
            return refusal
    raise AssertionError("the disk never filled up")


async def test_a_worker_whose_disk_fills_up_under_its_hands_gets_everything_done_later(
    small_disk: Path, tmp_path: Path
) -> None:
    async with Run(f"sqlite:///{small_disk}/jobs.db", tmp_path) as run:
        worker = run.fleet.worker()
        jobs = await run.client.enqueue_many([("slow", {"rounds": 5}, {})] * 3 + [("chain", {}, {})] * 3)
        await run.until_more("start", 3, than=0)
        await _fill(run)
        await asyncio.sleep(1.5)  # leases run out meanwhile: nobody can write that down either
        (small_disk / "ballast").unlink()
        await run.quiesce()
        assert worker.alive, worker.output()
        history = run.judge()
        assert {history.jobs[job_id].state for job_id in jobs} == {State.SUCCEEDED}
