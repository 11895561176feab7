"""The server has committed and the answer is lost: what is asked again must be recognised as done."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chaos.client import Client
from tests.chaos.proxy import Proxy
from tests.chaos.run import Run
from tests.chaos.workload import make_app
from towpath.core.lifecycle import State


@pytest.fixture
async def proxy(postgres_url: str) -> AsyncIterator[Proxy]:
    async with Proxy(postgres_url) as proxy:
        yield proxy


async def test_an_enqueue_whose_answer_is_lost_makes_one_job(proxy: Proxy, postgres_url: str, tmp_path: Path) -> None:
    async with Run(postgres_url, tmp_path) as run, make_app(proxy.url, run.witness) as app:
        client = Client(app, run.witness)
        await client.enqueue("plain")  # statements are prepared from here on
        proxy.lose_once(b"the only one")
        alone = await client.enqueue("plain", {"say": "the only one"})
        proxy.lose_once(b"COMMIT;")
        many = await client.enqueue_many([("plain", {}, {})] * 5)
        assert proxy.lost == 2
        run.fleet.worker()
        await run.quiesce()
        history = run.judge()
        assert len(history.jobs) == 7
        assert {alone, *many} <= history.jobs.keys()


async def test_a_keyed_enqueue_whose_answer_is_lost_finds_its_own_job(
    proxy: Proxy, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path) as run, make_app(proxy.url, run.witness) as app:
        proxy.lose_once(b"only one of these")
        first = await app.enqueue("plain", {}, key="only one of these")
        again = await app.enqueue("plain", {}, key="only one of these")
        assert proxy.lost == 1
        assert first.id == again.id
        run.fleet.worker()
        await run.quiesce()
        assert len(run.judge().jobs) == 1


@pytest.mark.parametrize(("operation", "marker"), [("plain", b'"fence":1'), ("chain", b"COMMIT;")])
async def test_a_settle_whose_answer_is_lost_counts_once(
    operation: str, marker: bytes, proxy: Proxy, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path) as run:
        job_id = await run.client.enqueue(operation, {"seconds": 0.3})
        worker = run.fleet.worker(url=proxy.url, queues="main")
        await run.until_seen("start", job_id)
        proxy.lose_once(marker)
        await run.quiesce()
        assert proxy.lost == 1
        assert worker.alive
        history = run.judge()
        assert (history.jobs[job_id].state, history.jobs[job_id].attempt) == (State.SUCCEEDED, 1)


async def test_everything_ends_well_when_one_answer_in_twenty_is_lost(
    proxy: Proxy, postgres_url: str, tmp_path: Path
) -> None:
    dice = random.Random(7)
    async with Run(postgres_url, tmp_path, seed=7) as run, make_app(proxy.url, run.witness) as app:
        workers = [run.fleet.worker(url=proxy.url, concurrency=4) for _ in range(2)]
        await run.until(lambda: len(run.sightings("worker")) == 2, "both workers were up")
        proxy.lose(lambda _: dice.random() < 0.05)
        client = Client(app, run.witness, seed=7)
        for _ in range(3):
            await client.feed()
        await run.until_more("end", 30)
        proxy.lose(lambda _: False)
        await run.quiesce()
        assert proxy.lost > 5
        assert all(worker.alive for worker in workers)
        run.judge()
