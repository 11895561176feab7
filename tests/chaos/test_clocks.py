"""Workers whose clocks are an hour off, among others whose clocks are right: PostgreSQL's time is the only one."""

from pathlib import Path

import pytest

from tests.chaos.run import Run

HOUR = 3600.0


@pytest.mark.parametrize("off", [+HOUR, -HOUR], ids=["an hour ahead", "an hour behind"])
async def test_a_worker_with_a_wrong_clock_does_everything_at_the_right_time(
    off: float, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path) as run:
        skewed = run.fleet.worker(clock=off)
        await run.until_seen("worker")
        await run.client.feed()
        await run.client.enqueue_many([("plain", {}, {"delay": 0.5}), ("stubborn", {"times": 1}, {}), ("later", {}, {})])
        await run.quiesce()
        assert skewed.alive
        run.judge()


async def test_a_janitor_with_a_wrong_clock_takes_nobodys_lease_away(postgres_url: str, tmp_path: Path) -> None:
    async with Run(postgres_url, tmp_path) as run:
        run.fleet.worker(queues="main")
        await run.until_seen("worker")
        janitors = [run.fleet.worker(queues="strict", clock=off) for off in (+HOUR, -HOUR)]
        await run.until(lambda: len(run.sightings("worker")) == 3, "both janitors were up")
        job_id = await run.client.enqueue("slow", {"rounds": 20, "seconds": 0.1})
        await run.quiesce()
        assert all(janitor.alive for janitor in janitors)
        assert run.judge().jobs[job_id].attempt == 1
