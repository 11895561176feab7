"""Asking a worker to stop a second time: it waits for nobody any more, and still loses nothing."""

import asyncio
from dataclasses import replace

import pytest

from tests.engine.working import in_state
from towpath import App, Settings


async def test_a_worker_that_is_cancelled_twice_hands_its_jobs_back_without_waiting_and_without_burning_an_attempt(
    database_url,
):
    app = App(database_url, settings=replace(Settings(), drain_seconds=300.0))

    @app.operation("long", queue="q")
    async def long(ctx) -> None:
        await asyncio.sleep(300)

    async with app:
        job = await app.enqueue("long")
        worker = asyncio.create_task(app.run_worker(["q"], 2))
        await in_state(app, job, "running")
        worker.cancel()
        done, _ = await asyncio.wait({worker}, timeout=0.3)
        assert not done, "the first cancel lets running jobs finish"
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(30):
                await worker
        row = await app.get(job.id)
        assert (row.state, row.failures, row.leased) == ("queued", 0, False)
