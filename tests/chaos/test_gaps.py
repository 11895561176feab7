"""Workers that slept together, as on a laptop whose lid was shut: whoever wakes up beats first, and nobody loses a job."""

import asyncio
from datetime import datetime
from pathlib import Path

from tests.chaos.processes import Member
from tests.chaos.run import Run
from tests.services.postgres import PostgresServer

_LONG = {"rounds": 40, "seconds": 0.1}
_LEASE = 3.0  # who wakes up has so long to beat, on a machine that is busy with other tests


async def _lease_has_run_out(run: Run, job_id: str) -> bool:
    """By the database's clock."""
    job = await run.app.get(job_id)
    assert job.lease_until is not None, f"it is {job.state.value}: it has ended before its worker was frozen"
    return job.lease_until < await run.app.now()


async def _all_asleep(run: Run, job_id: str, *workers: Member) -> None:
    for worker in workers:
        worker.pause()
    await run.until(lambda: all(worker.frozen for worker in workers), "all were frozen")
    while not await _lease_has_run_out(run, job_id):  # noqa: ASYNC110  (time sets no event)
        await asyncio.sleep(0.05)


async def _have_beaten(run: Run, since: datetime) -> int:
    return sum(row.seen_at is not None and row.seen_at > since for row in await run.app.workers())


async def test_a_worker_that_was_frozen_past_its_lease_goes_on_with_its_job(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path, lease=_LEASE) as run:
        worker = run.fleet.worker(queues="main", lease=_LEASE)
        job_id = await run.client.enqueue("slow", _LONG)
        await run.until_seen("start", job_id)
        await _all_asleep(run, job_id, worker)
        worker.resume()
        await run.quiesce()
        job = run.judge().jobs[job_id]
        assert (job.attempt, job.failures) == (1, 0), worker.output()


async def test_workers_that_slept_together_keep_their_jobs(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path, lease=_LEASE) as run:
        workers = [run.fleet.worker(queues=queues, lease=_LEASE) for queues in ("main", "strict", "fair")]
        await run.until(lambda: len(run.sightings("worker")) == 3, "all were up")
        job_id = await run.client.enqueue("slow", _LONG)
        await run.until_seen("start", job_id)
        await _all_asleep(run, job_id, *workers)
        woken, unhindered = await run.app.now(), await run.unhindered()
        for worker in workers[1:]:
            worker.resume()
        while unhindered and await _have_beaten(run, woken) < 2:  # noqa: ASYNC110  (other processes set no event)
            await asyncio.sleep(0.05)
        workers[0].resume()  # the one with the job is the last to wake up
        await run.quiesce()
        job = run.judge().jobs[job_id]
        assert (job.attempt, job.failures) == (1, 0), run.fleet.outputs()


async def test_a_job_goes_on_although_the_database_was_away_for_longer_than_its_lease(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    """Also under the eyes of a worker that came when it was back, and knows nothing of it."""
    async with Run(postgres_url, tmp_path, lease=_LEASE) as run:
        worker = run.fleet.worker(queues="main", lease=_LEASE)
        await run.until_seen("worker")
        job_id = await run.client.enqueue("slow", _LONG)
        await run.until_seen("start", job_id)
        postgres_server.kill()
        failed = "a heartbeat failed"
        await run.until(lambda: worker.output().count(failed) >= 5, "the worker has lost its lease's time")
        postgres_server.start()
        run.fleet.worker(queues="strict", lease=_LEASE)
        await run.quiesce()
        job = run.judge().jobs[job_id]
        assert (job.attempt, job.failures) == (1, 0), run.fleet.outputs()
