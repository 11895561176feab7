"""PostgreSQL goes away under load and comes back: nothing is lost, nothing is doubled, nobody has to be restarted."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.chaos.run import Run
from tests.services.postgres import PostgresServer
from towpath.core.errors import StoreUnavailable


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
        for number in (15, 30):
            await run.until_more("end", number, than=0)
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


async def test_everything_ends_well_when_every_transaction_has_to_be_run_twice(postgres_url: str, tmp_path: Path) -> None:
    """After a deadlock a unit is run again: what its first run did to its arguments must not show."""
    async with Run(postgres_url, tmp_path, seed=6) as run:
        client = run.fleet.client(twice=1, seed=6)
        assert await asyncio.to_thread(client.wait, 20) == 0, client.output()
        run.fleet.worker(twice=1)
        await run.quiesce()
        history = run.judge()
        recorded = {job.id: job.steps for job in history.jobs.values() if history.steps.get(job.id)}
        assert recorded
        assert all(recorded.values()), "a job that has steps on record knows so"


async def test_a_callers_transaction_that_rests_for_too_long_is_rolled_back_with_a_clear_word(
    postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path, lease=0.2) as run:

        async def rest() -> None:
            async with run.app.transaction() as tx:
                await tx.enqueue("plain", {})
                await run.until(lambda: not busy_sessions(postgres_url), "the server ended the session")
                await tx.enqueue("plain", {})

        with pytest.raises(StoreUnavailable, match=r"rested for more than 0.2 s.*do slow work before or after it"):
            await rest()
        assert await run.app.list() == []


async def test_a_callers_transaction_whose_server_goes_away_says_so(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path) as run:

        async def outlive() -> None:
            async with run.app.transaction() as tx:
                await tx.enqueue("plain", {})
                await asyncio.to_thread(postgres_server.restart, "immediate")

        with pytest.raises(StoreUnavailable, match="rolled back"):
            await outlive()
        assert await run.app.list() == []


def busy_sessions(url: str) -> list[tuple[int]]:
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
        ).fetchall()
