"""Workers that were dead for their colleagues and come back: whatever they still want to write is refused."""

import asyncio
from pathlib import Path

import psycopg
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
            await run.until(lambda job_id=job_id: _ended_by(run, job_id, zombie.pid), "the zombie's handler ended")
        handlers = [item for item in run.sightings("end") if item.pid == zombie.pid and item.job in stuck]
        assert [item.facts["how"] for item in handlers] == ["interrupted", "interrupted"]
        zombie.terminate()
        assert await asyncio.to_thread(zombie.wait, 20) == 0
        assert _written(run.judge()) == before


def _ended_by(run: Run, job_id: str, pid: int) -> bool:
    return any(item.job == job_id and item.pid == pid for item in run.sightings("end"))


async def _pause_outside_a_transaction(run: Run, worker: Member) -> None:
    """On SQLite a process stopped in the middle of a commit keeps the file's lock, and everybody waits for it."""
    for _ in range(50):
        worker.pause()
        await run.until(lambda: worker.frozen, "the worker froze")
        try:
            async with asyncio.timeout(0.3):
                await run.app.queues.resume("elsewhere")  # any write will do
            if run.url.startswith("sqlite:") or not _between_two_messages(run.url):
                return
        except TimeoutError:
            pass
        worker.resume()
    raise AssertionError("it was never caught outside a transaction")


async def test_a_zombie_with_a_result_in_hand_is_refused(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        job_id = await run.client.enqueue("chain")
        zombie = run.fleet.worker(queues="main", freeze="worker.ran:1")
        await run.until(lambda: zombie.frozen, "the worker froze")
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
        for _ in range(10):
            await run.client.feed()
            zombie = run.fleet.worker(freeze=f"{point}:2")
            await run.until(lambda zombie=zombie: zombie.frozen, "the worker froze")
            if not _between_two_messages(postgres_url):
                break
            zombie.kill()
        run.fleet.worker(concurrency=8)
        await run.quiesce()
        zombie.resume()
        zombie.terminate()
        assert await asyncio.to_thread(zombie.wait, 20) == 0, zombie.output()
        run.judge()


def _between_two_messages(url: str) -> bool:
    """Whether the freeze fell between the preparing of a statement and its running, on any of the worker's connections.

    To the server such a session is active, not idle, and none of its timeouts but PostgreSQL 17's transaction_timeout
    touches it. It is a matter of microseconds on a statement's first use, and not what this test is about.
    """
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' "
            "AND wait_event = 'ClientRead' AND xact_start IS NOT NULL"
        ).fetchall()
    return bool(rows)
