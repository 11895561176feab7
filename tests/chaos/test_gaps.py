"""Workers that slept together, as on a laptop whose lid was shut: whoever wakes up beats first, and nobody loses a job."""

from pathlib import Path

from tests.chaos.processes import Member
from tests.chaos.run import Run
from tests.services.postgres import PostgresServer

_LONG = {"rounds": 40, "seconds": 0.1}


async def _lease_of(run: Run, job_id: str) -> bool:
    """Whether it has run out by the database's clock."""
    job = await run.app.get(job_id)
    return job.lease_until is not None and job.lease_until < await run.app.now()


async def _all_asleep(run: Run, job_id: str, *workers: Member) -> None:
    for worker in workers:
        worker.pause()
    await run.until(lambda: all(worker.frozen for worker in workers), "all were frozen")
    while not await _lease_of(run, job_id):
        pass


async def test_a_worker_that_was_frozen_past_its_lease_goes_on_with_its_job(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        worker = run.fleet.worker(queues="main")
        job_id = await run.client.enqueue("slow", _LONG)
        await run.until_seen("start", job_id)
        await _all_asleep(run, job_id, worker)
        worker.resume()
        await run.quiesce()
        job = run.judge().jobs[job_id]
        assert (job.attempt, job.failures) == (1, 0), worker.output()


async def test_workers_that_slept_together_keep_their_jobs(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        workers = [run.fleet.worker(queues=queues) for queues in ("main", "strict", "fair")]
        await run.until(lambda: len(run.sightings("worker")) == 3, "all were up")
        job_id = await run.client.enqueue("slow", _LONG)
        await run.until_seen("start", job_id)
        await _all_asleep(run, job_id, *workers)
        for worker in reversed(workers):  # the one with the job is the last to wake up
            worker.resume()
        await run.quiesce()
        job = run.judge().jobs[job_id]
        assert (job.attempt, job.failures) == (1, 0), run.fleet.outputs()


async def test_a_job_goes_on_although_the_database_was_away_for_longer_than_its_lease(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    """Also under the eyes of a worker that came when it was back, and knows nothing of it."""
    async with Run(postgres_url, tmp_path) as run:
        worker = run.fleet.worker(queues="main")
        await run.until_seen("worker")
        job_id = await run.client.enqueue("slow", _LONG)
        await run.until_seen("start", job_id)
        postgres_server.kill()
        failed = "a heartbeat failed"
        await run.until(lambda: worker.output().count(failed) >= 5, "the worker has lost its lease's time")
        postgres_server.start()
        run.fleet.worker(queues="strict")
        await run.quiesce()
        job = run.judge().jobs[job_id]
        assert (job.attempt, job.failures) == (1, 0), run.fleet.outputs()
