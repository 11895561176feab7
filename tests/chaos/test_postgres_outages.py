"""PostgreSQL goes away under load and comes back: nothing is lost, nothing is doubled, nobody has to be restarted."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.run import Run
from tests.services.postgres import PostgresServer


def _restarted(server: PostgresServer) -> None:
    server.restart("immediate")


def _killed(server: PostgresServer) -> None:
    server.kill()
    server.start()


@pytest.mark.parametrize("outage", [_restarted, _killed])
async def test_work_goes_on_after_an_outage_of_the_server(
    outage: Callable[[PostgresServer], None], postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path, seed=5) as run:
        workers = [run.fleet.worker(concurrency=4) for _ in range(2)]
        await run.until(lambda: len(run.sightings("worker")) == 2, "both workers were up")
        feeding = asyncio.create_task(_feed(run, rounds=6))
        for _ in range(2):
            await run.until_more("end", 15)
            await asyncio.to_thread(outage, postgres_server)
        await feeding
        await run.quiesce()
        assert all(worker.alive for worker in workers), run.fleet.outputs()
        run.judge()


async def _feed(run: Run, rounds: int) -> None:
    """Clients in the driver's process live through the outage, too: their calls wait for the server and then succeed."""
    for _ in range(rounds):
        await run.client.feed()
        await run.client.meddle(4)
        await asyncio.sleep(0.1)
