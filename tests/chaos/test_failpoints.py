"""Processes are killed at every named point, on both databases; others finish the work, and nothing is lost or doubled."""

import asyncio
import signal
from pathlib import Path

from tests.chaos.faults import CLIENT_POINTS, WORKER_POINTS
from tests.chaos.run import Run


async def test_work_survives_a_worker_killed_at_every_named_point(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path, seed=1) as run:
        for point, nth in WORKER_POINTS.items():
            await run.client.feed()
            victim = run.fleet.worker(die=f"{point}:{nth}", concurrency=4)
            code = await asyncio.to_thread(victim.wait, 20)
            assert code == -signal.SIGKILL, f"{point} was not reached:\n{victim.output()}"
            await run.client.meddle(3)
        assert {sighting.facts["point"] for sighting in run.sightings("reached")} == set(WORKER_POINTS)
        run.fleet.worker(concurrency=8)
        await run.quiesce()
        run.judge()


async def test_what_a_client_was_promised_survives_its_death_at_every_named_point(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path, seed=2) as run:
        run.fleet.worker(concurrency=8)
        for number, (point, nth) in enumerate(CLIENT_POINTS.items()):
            victim = run.fleet.client(die=f"{point}:{nth}", seed=number, rounds=5)
            code = await asyncio.to_thread(victim.wait, 20)
            assert code == -signal.SIGKILL, f"{point} was not reached:\n{victim.output()}"
        await run.quiesce()
        run.judge()
