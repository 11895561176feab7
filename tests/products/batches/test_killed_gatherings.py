"""Workers are killed everywhere on the way of single requests into a batch and back: others finish it, each request has its
own answer, and the provider's ledger says that the batch was paid for once."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.nursery import Nursery
from tests.contracts.stores import Hands
from tests.engine.working import on_postgres, on_sqlite, working
from tests.products.batches.crashing import IN_OURS, JOINED, POINTS, QUEUES, make_app
from tests.providers.openai import simulator as openai_simulator
from towpath import App
from towpath.batches.names import ASK
from towpath.providers.simulator import Simulator, served


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery("tests.products.batches.crashing", "openai")
    yield made
    made.close()


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    made = openai_simulator()
    with served(made):
        yield made


async def killed(nursery: Nursery, where: list[str], point: str, output: Path) -> None:
    pid = nursery.start("tests.products.batches.crashing", [*where, point], output)
    try:
        async with asyncio.timeout(90):
            while (code := nursery.poll(pid)) is None:  # noqa: ASYNC110  (another process, which rings no bell)
                await asyncio.sleep(0.02)
    except TimeoutError:
        code = None
    finally:
        if nursery.poll(pid) is None:
            os.killpg(pid, signal.SIGKILL)
    said = await asyncio.to_thread(output.read_text)
    assert code == -signal.SIGKILL, f"{point} was not reached:\n{said[-3000:]}"


async def time_passes(app: App) -> None:
    """For a call that nobody has the answer to, which is certainly over then, and for a look that came to nothing."""
    hands = Hands(app.services.store)
    earlier = "{0} = {0} - 2000" if hands.store.dialect == "sqlite" else "{0} = {0} - interval '2000 seconds'"
    changed = f"{earlier.format('called_at')}, {earlier.format('next_poll_at')}"
    for row in await hands.sql(f"UPDATE {hands.table('provider_job')} SET {changed} RETURNING job_id"):
        if (await app.get(str(row["job_id"]))).reason == "provider_call":
            await hands.shift("deadline", -2000.0, str(row["job_id"]))


async def all_ended(app: App, jobs: list[str]) -> None:
    async with working(app, *QUEUES), asyncio.timeout(120):
        while not all([(await app.get(job_id)).ended for job_id in jobs]):
            await time_passes(app)
            await asyncio.sleep(0.2)


async def answered_and_paid_for_once(
    database_url: str, tmp_path: Path, nursery: Nursery, simulator: Simulator, point: str
) -> None:
    where = [database_url, (tmp_path / "blobs").as_uri(), simulator.url]
    async with make_app(*where) as app:
        jobs = []
        for number in range(3):
            body = {"messages": [{"role": "user", "content": f"question {number}"}], "max_tokens": 64}
            asked = {"provider": "OPENAI", "model": "gpt-6-astra", "body": body}
            jobs.append((await app.enqueue(ASK, asked, tenant="north")).id)
        await killed(nursery, where, point, tmp_path / "output")
        await all_ended(app, jobs)
        found = [await app.get(job_id) for job_id in jobs]
        assert [row.state.value for row in found] == ["succeeded"] * 3, [row.error for row in found]
        assert len({row.result["batch_id"] for row in found}) == 1
        assert len({str(row.result["response"]) for row in found}) == 3
        assert await app.query("batch_requests_page", batch_id=found[0].result["batch_id"], after=0, limit=9) == []
    assert len(simulator.ledger.paid) == 1
    assert not simulator.ledger.twice


@on_sqlite
@pytest.mark.parametrize("point", POINTS)
async def test_a_worker_that_is_killed_costs_nobody_an_answer_and_nothing_twice(
    database_url, tmp_path, nursery, simulator, point
):
    await answered_and_paid_for_once(database_url, tmp_path, nursery, simulator, point)


@on_postgres
@pytest.mark.parametrize("point", [*IN_OURS, JOINED, "submit.accepted"])
async def test_on_the_other_database_as_well(database_url, tmp_path, nursery, simulator, point):
    await answered_and_paid_for_once(database_url, tmp_path, nursery, simulator, point)
