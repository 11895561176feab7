"""More callers than connections: everybody is served or told so, and no lease is lost over it."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.client import Client
from tests.chaos.run import Run
from tests.chaos.workload import make_app
from towpath.core.errors import StoreUnavailable


async def test_fifty_clients_share_two_connections(postgres_url: str, tmp_path: Path) -> None:
    async with Run(postgres_url, tmp_path) as run, make_app(postgres_url, run.witness, pool_size=2) as app:
        run.fleet.worker(pool=2, concurrency=8)
        client = Client(app, run.witness)

        async def one(number: int) -> None:
            job_id = await client.enqueue("plain" if number % 2 else "steps")
            await app.get(job_id)

        await asyncio.gather(*(one(number) for number in range(50)))
        await run.quiesce()
        history = run.judge()
        assert len(history.jobs) == 50
        assert not [event for events in history.events.values() for event in events if event.name == "job.rescued"]


async def test_a_worker_keeps_its_leases_while_its_pool_is_exhausted(postgres_url: str, tmp_path: Path) -> None:
    async with Run(postgres_url, tmp_path) as run:
        run.fleet.worker(queues="strict")  # a janitor that would take any lease that has run out
        app = make_app(postgres_url, run.witness, pool_size=2)
        async with app:
            working = asyncio.create_task(app.run_worker(["main"], 4))
            job_id = await run.client.enqueue("plain", {"seconds": 1.2})
            await run.until_seen("start", job_id)
            async with app.transaction() as one, app.transaction() as two:
                app.services.store._checkout_seconds = 0.3  # from now on: these two had to wait for the worker's own calls
                busy = [asyncio.create_task(tx.fetch("SELECT pg_sleep(2)")) for tx in (one, two)]
                with pytest.raises(StoreUnavailable, match="TOWPATH_POOL_SIZE"):
                    await app.enqueue("plain", {})
                await asyncio.gather(*busy)
            await run.quiesce()
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        assert run.judge().jobs[job_id].attempt == 1
