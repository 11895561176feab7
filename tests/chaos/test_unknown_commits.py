"""The server has committed and the answer is lost: what is asked again must be recognised as done."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chaos.client import Client
from tests.chaos.proxy import Proxy
from tests.chaos.run import Run
from tests.chaos.workload import make_app
from towpath.core.errors import StoreUnavailable
from towpath.core.lifecycle import State
from towpath.store.contract import Claim, Tx
from towpath.store.journal import FanOut, fan_out


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
        await client.enqueue_many([("plain", {}, {})] * 2)
        proxy.lose_once(b"one of many")
        many = await client.enqueue_many([("plain", {"say": "one of many"}, {})] * 5)
        proxy.lose_once(b"of another kind")
        unlike = await client.enqueue_many([("plain", {"say": "of another kind"}, {"priority": band}) for band in range(3)])
        assert proxy.lost == 3
        run.fleet.worker()
        await run.quiesce()
        history = run.judge()
        assert len(history.jobs) == 12
        assert {alone, *many, *unlike} <= history.jobs.keys()


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


async def test_jobs_of_a_claim_whose_answer_is_lost_are_rescued(proxy: Proxy, postgres_url: str, tmp_path: Path) -> None:
    """They are leased to a worker that does not know of them."""
    async with Run(postgres_url, tmp_path) as run:
        jobs = await run.client.enqueue_many([("plain", {}, {})] * 10)
        proxy.lose_once(b"-inf,-inf")  # the cursors of a claim that looks everywhere
        worker = run.fleet.worker(url=proxy.url, queues="main")
        await run.until(lambda: proxy.lost == 1, "the answer was lost")
        await run.quiesce()
        assert worker.alive
        history = run.judge()
        assert {history.jobs[job_id].state for job_id in jobs} == {State.SUCCEEDED}
        assert any(history.jobs[job_id].attempt == 2 for job_id in jobs)


async def test_a_plain_success_whose_answer_is_lost_counts_once(proxy: Proxy, postgres_url: str, tmp_path: Path) -> None:
    async with Run(postgres_url, tmp_path) as run:
        proxy.lose_once(b'"fence":1')
        job_id = await run.client.enqueue("plain")
        worker = run.fleet.worker(url=proxy.url, queues="main")
        await run.until(lambda: proxy.lost == 1, "the answer was lost")
        await run.quiesce()
        assert worker.alive
        job = run.judge().jobs[job_id]
        assert (job.state, job.attempt) == (State.SUCCEEDED, 1)


@pytest.mark.parametrize(
    ("operation", "marker", "attempts"),
    [
        ("chain", b"job.succeeded", 1),
        ("flaky", b"job.retry_scheduled", 3),
        ("steps", b"step.completed", 2),
        ("steps", b"chaos.rested", 2),
        ("gatherer", b"job.spawned", 2),
        ("gatherer", b"job.children", 2),
        ("waiter", b"job.waiting", 2),
    ],
)
async def test_what_an_operation_wrote_counts_once_if_the_answer_to_its_commit_is_lost(
    operation: str, marker: bytes, attempts: int, proxy: Proxy, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path) as run:
        proxy.lose_commit_after(marker)
        job_id = await run.client.enqueue(operation)
        worker = run.fleet.worker(url=proxy.url, queues="main")
        await run.until(lambda: proxy.lost == 1, "the answer was lost")
        await run.quiesce()
        assert worker.alive
        history = run.judge()
        assert history.jobs[job_id].attempt == attempts
        lines = [(event.attempt, event.name, event.fields) for event in history.of(job_id)]
        assert not [line for line in lines if line[1] not in _MAY_REPEAT and lines.count(line) > 1]


_MAY_REPEAT = ("job.children",)


async def test_a_fan_out_asked_for_again_says_how_many_of_its_children_are_open(database_url: str, tmp_path: Path) -> None:
    """Its children may have ended before the second question: whoever waited for their wake would wait in vain."""
    async with Run(database_url, tmp_path) as run:
        store, job_id = run.app.services.store, await run.client.enqueue("gatherer")
        await store.claim(Claim("main", 1, "worker", 60.0))
        child = run.app.services.new_job("leaf", {})
        child.parent_id, child.root_id, child.child_group = job_id, job_id, "gather leaf"

        async def ask(tx: Tx) -> FanOut:
            return await fan_out(tx, job_id, 1, kind="gather", name="gather leaf", children=[child], awaited=True)

        assert (await store.run(ask)).open == 1
        assert (await store.run(ask)).open == 1
        await run.app.cancel(child.id)
        assert (await store.run(ask)).open == 0


async def test_a_caller_whose_own_commit_is_unknown_is_told_so(proxy: Proxy, postgres_url: str, tmp_path: Path) -> None:
    async with Run(postgres_url, tmp_path) as run, make_app(proxy.url, run.witness) as app:

        async def enqueue() -> None:
            async with app.transaction() as tx:
                await tx.enqueue("plain", {})
                proxy.lose_once(b"COMMIT;")

        with pytest.raises(StoreUnavailable, match="may or may not have happened"):
            await enqueue()
        assert len(await run.app.list()) == 1


@pytest.mark.parametrize("verb", ["cancel", "requeue", "signal"])
async def test_a_client_whose_answer_is_lost_is_told_that_it_happened(
    verb: str, proxy: Proxy, postgres_url: str, tmp_path: Path
) -> None:
    event = {"cancel": "job.cancelled", "requeue": "job.requeued", "signal": "job.signalled"}[verb]
    async with Run(postgres_url, tmp_path) as run, make_app(proxy.url, run.witness) as app:
        job_id = await run.client.enqueue("waiter")
        if verb == "requeue":
            await run.client.cancel(job_id)
        proxy.lose_commit_after(event.encode())
        assert await getattr(Client(app, run.witness), verb)(job_id)
        assert proxy.lost == 1
        run.fleet.worker(queues="main")
        await run.quiesce()
        history = run.judge()
        assert len([item for item in history.of(job_id) if item.name == event]) == 1


async def test_everything_ends_well_when_one_answer_in_twenty_is_lost(
    proxy: Proxy, postgres_url: str, tmp_path: Path
) -> None:
    async with Run(postgres_url, tmp_path, seed=7) as run, make_app(proxy.url, run.witness) as app:
        workers = [run.fleet.worker(url=proxy.url, concurrency=4) for _ in range(2)]
        await run.until(lambda: len(run.sightings("worker")) == 2, "both workers were up")
        proxy.lose_some(random.Random(7), 0.05)
        client = Client(app, run.witness, seed=7)
        await client.feed()
        await run.until_more("end", 15, than=0)
        proxy.lose_none()
        await run.quiesce()
        assert proxy.lost > 3
        assert all(worker.alive for worker in workers)
        run.judge()
