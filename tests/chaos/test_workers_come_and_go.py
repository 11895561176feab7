"""Workers are deployed, killed and started all the time; the work does not care."""

import asyncio
import random
from pathlib import Path

from tests.chaos.run import Run
from towpath.core.lifecycle import State


async def test_rolling_restarts_hand_work_back_without_using_up_attempts(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        jobs = []
        old = run.fleet.worker(drain=0.1)
        for _ in range(4):
            jobs += await run.client.enqueue_many([("slow", {"rounds": 8, "seconds": 0.1}, {}), ("steps", {}, {})] * 2)
            await run.until_seen("start", jobs[-2])
            new = run.fleet.worker(drain=0.1)
            old.terminate()
            assert await asyncio.to_thread(old.wait, 20) == 0, old.output()
            old = new
        await run.quiesce()
        history = run.judge()
        assert {history.jobs[job_id].state for job_id in jobs} == {State.SUCCEEDED}
        assert {history.jobs[job_id].failures for job_id in jobs} == {0}
        assert any(event.name == "job.released" for job_id in jobs for event in history.of(job_id))
        assert not run.unstopped_workers(), "a worker that was told to stop says so in its row"


async def test_three_workers_killed_at_random_lose_nothing(database_url: str, tmp_path: Path) -> None:
    dice = random.Random(11)
    async with Run(database_url, tmp_path, seed=11) as run:
        workers = [run.fleet.worker() for _ in range(3)]
        for _ in range(6):
            before = run.seen("start")
            await run.client.feed()
            await run.client.meddle(4)
            await run.until_more("start", dice.randrange(1, 12), than=before)
            victim = dice.randrange(3)
            workers[victim].kill()
            workers[victim] = run.fleet.worker()
        await run.quiesce()
        run.judge()


async def test_a_poison_job_ends_in_the_inbox_while_others_flow(database_url: str, tmp_path: Path) -> None:
    """The handler takes its whole process down, each time; a supervisor starts the next worker, as one would."""
    how = "segfault" if database_url.startswith("sqlite") else "exit"
    flowing, caught = [("plain", {}, {})] * 5 + [("steps", {}, {})], [("slow", {"rounds": 3}, {})] * 2
    async with Run(database_url, tmp_path, lease=0.5) as run:
        poison = await run.client.enqueue("poison", {"how": how, "when": str(tmp_path / "now")}, max_attempts=2)
        worker = run.fleet.worker(lease=0.5)
        for death in (1, 2):
            others = await run.client.enqueue_many(flowing)
            for other in others:
                await run.app.result(other, timeout=60)
            others = await run.client.enqueue_many(caught)
            await run.until_seen("start", others[0])
            (tmp_path / "now").touch()
            await run.until(lambda worker=worker: not worker.alive, f"death {death}")
            assert worker.returncode == (-11 if how == "segfault" else 23)
            (tmp_path / "now").unlink()
            worker = run.fleet.worker(lease=0.5)
        await run.quiesce()
        assert worker.alive
        history = run.judge()
        job = history.jobs.pop(poison)
        assert (job.state, job.failures, job.error_kind) == (State.FAILED, 2, "crashed")
        assert [item.job for item in run.sightings("start")].count(poison) == 2
        [group] = [group for group in await run.app.inbox.groups() if group.operation == "poison"]
        assert group.jobs == 1
        assert {other.state for other in history.jobs.values()} == {State.SUCCEEDED}
