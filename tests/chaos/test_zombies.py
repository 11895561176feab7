"""Workers that were dead for their colleagues and come back: whatever they still want to write is refused."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.history import History
from tests.chaos.processes import Member
from tests.chaos.run import Run


def _written(history: History) -> dict[str, tuple[int, int, int]]:
    """What each job's row and history amount to: any write of a zombie would change it."""
    return {job_id: (job.seq, job.attempt, len(history.of(job_id))) for job_id, job in history.jobs.items()}


async def test_a_worker_paused_past_its_lease_writes_nothing_when_it_comes_back(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        stuck = [await run.client.enqueue("stuck") for _ in range(2)]
        jobs = [*stuck, await run.client.enqueue("slow"), await run.client.enqueue("threaded", {"seconds": 1.0})]
        zombie = run.fleet.worker(queues="main")
        for job_id in jobs:
            await run.until_seen("start", job_id)
        await _pause_outside_a_transaction(run, zombie)

        run.fleet.worker(queues="main")
        await run.quiesce()
        before = _written(run.history())

        zombie.resume()
        for job_id in jobs:
            await run.until_seen("end", job_id, by=zombie)
        handlers = [item for item in run.sightings("end") if item.pid == zombie.pid and item.job in stuck]
        assert [item.facts["how"] for item in handlers] == ["interrupted", "interrupted"]
        zombie.terminate()
        assert await asyncio.to_thread(zombie.wait, 20) == 0
        assert _written(run.judge()) == before


async def _pause_outside_a_transaction(run: Run, worker: Member) -> None:
    for _ in range(50):
        worker.pause()
        await run.until(lambda: worker.frozen, "the worker froze")
        if await run.unhindered():
            return
        worker.resume()
    raise AssertionError("it was never caught outside a transaction")


async def test_a_zombie_with_a_result_in_hand_is_refused(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        job_id, zombie = await run.freeze("chain", queues="main")
        run.fleet.worker(queues="main")
        await run.quiesce()
        before = _written(run.history())
        zombie.resume()
        zombie.terminate()
        assert await asyncio.to_thread(zombie.wait, 20) == 0
        history = run.judge()
        assert _written(history) == before
        assert history.jobs[job_id].attempt == 2


async def test_a_requeued_job_waits_for_the_handler_that_was_cancelled(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path, lease=3.0) as run:
        job_id = await run.client.enqueue("slow", {"rounds": 3, "seconds": 0.1})
        zombie = run.fleet.worker(queues="main", lease=3.0)
        await run.until_seen("start", job_id)
        await _pause_outside_a_transaction(run, zombie)
        assert await run.client.cancel(job_id)
        assert await run.client.requeue(job_id)
        run.fleet.worker(queues="main", lease=3.0)
        await run.client.enqueue("plain")
        await run.until(lambda: len(run.sightings("end")) == 1, "the second worker did something else")
        assert len([item for item in run.sightings("start") if item.job == job_id]) == 1
        zombie.resume()
        await run.quiesce()
        run.judge()


@pytest.mark.parametrize("point", ["apply.locked", "gate.locked"])
async def test_a_worker_frozen_inside_a_transaction_holds_nobody_up_for_long(
    point: str, postgres_url: str, tmp_path: Path
) -> None:
    """Its locks are the server's, and the server ends a transaction that has been idle for a lease's time."""
    async with Run(postgres_url, tmp_path) as run:
        for passage in range(2, 12):  # each time a little later, lest the same coincidence meets every try
            await run.client.feed()
            zombie = run.fleet.worker(freeze=f"{point}:{passage}")
            await run.until(lambda zombie=zombie: zombie.frozen, "the worker froze")
            if await run.unhindered():
                break
            zombie.kill()
        else:
            pytest.fail("it was never caught in a transaction that rests")
        run.fleet.worker(concurrency=8)
        await run.quiesce()
        zombie.resume()
        zombie.terminate()
        assert await asyncio.to_thread(zombie.wait, 20) == 0, zombie.output()
        run.judge()
