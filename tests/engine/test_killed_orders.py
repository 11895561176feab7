"""Workers that order at a provider are killed at every named point on the way; others finish the work, and the provider's
ledger says that nothing was paid for twice."""

import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.stores import Hands
from tests.engine.ordering import make_app
from tests.engine.working import eventually, in_state, working
from towpath.providers.simulator import Simulator, served
from towpath.providers.simulator.openai import OpenAISimulator

ROOT = Path(__file__).parents[2]
ON_THE_WAY = (
    "spend.added", "submit.intended", "submit.prepared", "submit.calling", "submit.accepted", "submit.recorded",
    "poll.locked", "poll.taken", "poll.answered",
)  # fmt: skip
AFTER_A_LOST_ANSWER = "submit.looked"


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    made = OpenAISimulator()
    with served(made):
        yield made


async def killed_at(point: str, *arguments: str) -> None:
    command = ["-m", "tests.engine.ordering", *arguments, point]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=ROOT)
    try:
        assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL, f"{point} was not reached"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def a_minute_passes(app):
    """Since the call that nobody has the answer to, which is certainly over then, or since a look that came to nothing."""
    hands = Hands(app.services.store)
    earlier = "{0} = {0} - 200" if hands.store.dialect == "sqlite" else "{0} = {0} - interval '200 seconds'"
    moved = await hands.sql(
        f"UPDATE {hands.table('provider_job')} SET {earlier.format('called_at')}, {earlier.format('next_poll_at')} "
        f"RETURNING job_id"
    )
    for row in moved:
        await hands.shift("deadline", -100.0, str(row["job_id"]))


async def put(app) -> str:
    body = {"messages": [{"role": "user", "content": "Who goes there?"}]}
    key = "jobs/0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60/requests"
    await app.blobs.put(key, json.dumps({"custom_id": "r0", "body": body}).encode() + b"\n")
    return (await app.enqueue("order", {"blob": key})).id


async def finished(app, job_id: str) -> str:
    async with working(app):
        job = await eventually(lambda: _waits_or_is_over(app, job_id), 60)
        if job.live:
            await a_minute_passes(app)
        return await app.result(job_id, timeout=60)


async def _waits_or_is_over(app, job_id: str):
    job = await app.get(job_id)
    return job if job.ended or job.state == "waiting" else None


@pytest.mark.parametrize("point", ON_THE_WAY)
async def test_an_order_is_paid_for_once_wherever_its_worker_is_killed(database_url, tmp_path, simulator, point):
    where = (database_url, (tmp_path / "blobs").as_uri(), simulator.url)
    async with make_app(*where) as app:
        job_id = await put(app)
        await killed_at(point, *where)
        assert await finished(app, job_id) == "completed"
    assert len(simulator.ledger.paid) == 1
    assert not simulator.ledger.twice


async def test_one_that_is_killed_while_it_looks_for_a_lost_order_leaves_it_to_the_next(database_url, tmp_path, simulator):
    where = (database_url, (tmp_path / "blobs").as_uri(), simulator.url)
    async with make_app(*where) as app:
        job_id = await put(app)
        await killed_at("submit.accepted", *where)
        await a_minute_passes(app)
        await killed_at(AFTER_A_LOST_ANSWER, *where)
        assert await finished(app, job_id) == "completed"
    assert len(simulator.ledger.paid) == 1


async def test_a_job_that_waits_for_its_call_to_be_over_says_so(database_url, tmp_path, simulator):
    where = (database_url, (tmp_path / "blobs").as_uri(), simulator.url)
    async with make_app(*where) as app:
        job_id = await put(app)
        await killed_at("submit.accepted", *where)
        async with working(app):
            row = await in_state(app, job_id, "waiting", 60)
            assert row.reason == "provider_call"
            assert "may still be on its way" in (await app.explain(job_id)).sentence
