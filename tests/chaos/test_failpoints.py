"""Processes are killed at every named point, on both databases; others finish the work, and nothing is lost or doubled."""

import asyncio
import re
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import towpath
from tests.chaos import faults
from tests.chaos.run import Run
from tests.chaos.workload import SCHEDULES


def test_every_named_point_of_the_engine_is_one_to_die_at() -> None:
    sources = Path(towpath.__file__).parent.rglob("*.py")
    named = {name for source in sources for name in re.findall(r'(?:reach|touch)\("([^"]+)"\)', source.read_text())}
    covered = faults.WORKER_POINTS.keys() | faults.CLIENT_POINTS.keys() | faults.LEFT_OUT.keys()
    covered |= faults.WORKER_POINTS_OF_POSTGRES.keys() | faults.CLIENT_POINTS_OF_POSTGRES.keys()
    assert named == covered, "tests/chaos/faults.py lists the points: add new ones there, and take away what is gone"


async def test_work_survives_a_worker_killed_at_every_named_point(database_url: str, tmp_path: Path) -> None:
    of_postgres = {} if database_url.startswith("sqlite") else faults.WORKER_POINTS_OF_POSTGRES
    schedules = list(SCHEDULES)
    # A lease that outlasts most of the killing: a job that was hit once is not hit again and again, which would only
    # make its backoff longer.
    async with Run(database_url, tmp_path, seed=1, lease=2.5) as run:
        for point, nth in (faults.WORKER_POINTS | of_postgres).items():
            await run.client.feed()
            if point.startswith("schedule."):
                await run.make_due(schedules.pop(), datetime.now(UTC) - timedelta(seconds=5))
            victim = run.fleet.worker(die=f"{point}:{nth}", lease=2.5)
            code = await asyncio.to_thread(victim.wait, 20)
            assert code == -signal.SIGKILL, f"{point} was not reached:\n{victim.output()}"
            await run.client.meddle(2)
        run.fleet.worker(concurrency=8, lease=2.5)
        await run.quiesce(90)
        run.judge()


async def test_what_a_client_was_promised_survives_its_death_at_every_named_point(database_url: str, tmp_path: Path) -> None:
    of_postgres = {} if database_url.startswith("sqlite") else faults.CLIENT_POINTS_OF_POSTGRES
    async with Run(database_url, tmp_path, seed=2) as run:
        run.fleet.worker(concurrency=8)
        for number, (point, nth) in enumerate((faults.CLIENT_POINTS | of_postgres).items()):
            victim = run.fleet.client(die=f"{point}:{nth}", seed=number, rounds=20)
            code = await asyncio.to_thread(victim.wait, 20)
            assert code == -signal.SIGKILL, f"{point} was not reached:\n{victim.output()}"
        await run.quiesce(90)
        run.judge()
