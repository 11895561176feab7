"""Endings become deliveries exactly once: across processes that die in between, and with several at it at once."""

import asyncio
import logging
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.server.api.dispatching import make_app
from towpath import App
from towpath.server.webhooks import Dispatcher, dispatching, stored
from towpath.server.webhooks import deliveries as sent
from towpath.testing import drain


@pytest.fixture
def blobs(tmp_path: Path) -> str:
    return (tmp_path / "blobs").as_uri()


@pytest.fixture
async def app(database_url: str, blobs: str):
    async with make_app(database_url, blobs) as app:
        yield app


async def a_hook(app: App, tenant: str = "default") -> str:
    return (await stored.create(app, tenant, "http://127.0.0.1:9/")).id


async def some_endings(app: App, count: int = 5) -> list[str]:
    jobs = await app.enqueue_many([{"operation": "work"} for _ in range(count)])
    await drain(app, ["default"])
    return [job.id for job in jobs]


async def told(app: App, webhook: str) -> Counter[str | None]:
    """How many deliveries there are of each job's ending."""
    return Counter(one.job_id for one in await sent.page(app.services.store, webhook, None, 1000))


async def dispatched(app: App, turns: int = 5) -> None:
    dispatcher = Dispatcher(app)
    for _ in range(turns):
        await dispatcher.turn()


async def killed_at(url: str, blobs: str, point: str) -> None:
    command = [sys.executable, "-m", "tests.server.api.dispatching", url, blobs, point]
    process = await asyncio.create_subprocess_exec(*command, cwd=Path(__file__).parents[3])
    try:
        assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_dispatcher_that_is_killed_loses_and_doubles_nothing(app: App, database_url: str, blobs: str):
    webhook, jobs = await a_hook(app), await some_endings(app)
    for point in ("webhooks.read", "webhooks.moved"):
        await killed_at(database_url, blobs, point)
        assert await told(app, webhook) == Counter()
    await killed_at(database_url, blobs, "tx.committed")
    assert await told(app, webhook) == Counter(jobs)
    more = await some_endings(app, 2)
    await dispatched(app)
    assert await told(app, webhook) == Counter([*jobs, *more])


async def test_several_dispatchers_send_each_ending_once(app: App, database_url: str, blobs: str, monkeypatch):
    # Without the key by which a delivery that is still live would be found: it may have ended long ago.
    plain = dispatching.new_delivery
    monkeypatch.setattr(dispatching, "new_delivery", lambda *told: replace(plain(*told), key=None))
    webhook, jobs = await a_hook(app), []
    async with make_app(database_url, blobs) as other:
        dispatchers = [Dispatcher(app), Dispatcher(app), Dispatcher(other), Dispatcher(other)]

        async def keep_turning(dispatcher: Dispatcher) -> None:
            while not done.is_set():
                await dispatcher.turn()

        done = asyncio.Event()
        turning = [asyncio.create_task(keep_turning(one)) for one in dispatchers]
        for _ in range(6):
            jobs += await some_endings(app, 10)
        done.set()
        async with asyncio.timeout(30):
            await asyncio.gather(*turning)
        await dispatched(app)
    assert await told(app, webhook) == Counter(jobs)


async def test_a_webhook_that_comes_later_hears_of_what_ends_from_then_on(app: App):
    first, dispatcher = await a_hook(app), Dispatcher(app)
    early = await some_endings(app, 2)
    await dispatcher.turn()
    second = await a_hook(app)
    late = await some_endings(app, 2)
    for _ in range(3):
        await dispatcher.turn()
    assert await told(app, first) == Counter([*early, *late])
    assert await told(app, second) == Counter(late)


async def test_while_no_webhook_is_active_nobody_reads(app: App, monkeypatch):
    dispatcher, reads = Dispatcher(app), 0

    async def counted(_dispatcher, _token):
        nonlocal reads
        reads += 1

    monkeypatch.setattr(Dispatcher, "_where", counted)
    await some_endings(app)
    await dispatcher.turn()
    assert reads == 0
    await a_hook(app)
    await dispatcher.turn()
    assert reads == 1


async def test_a_place_from_another_database_is_left_and_that_is_logged(app: App, caplog):
    caplog.set_level(logging.WARNING, "towpath.webhooks")
    webhook = await a_hook(app)
    await some_endings(app, 1)
    foreign = "deadbeef.1.1-1" if app.url.startswith("sqlite") else "deadbeef.1.1:1:"
    await app.services.store.run(lambda tx: tx.execute("webhook_cursor_move", token=foreign))
    await dispatched(app)
    assert "go on from now" in caplog.text
    jobs = await some_endings(app, 2)
    await dispatched(app)
    assert await told(app, webhook) == Counter(jobs)


async def test_more_endings_than_fit_into_one_page_all_arrive(app: App, monkeypatch):
    monkeypatch.setattr("towpath.server.webhooks.dispatching._EVENTS", 7)
    webhook, jobs = await a_hook(app), await some_endings(app, 40)
    await dispatched(app, 60)
    assert await told(app, webhook) == Counter(jobs)


async def test_many_webhooks_do_not_make_one_transaction_of_any_size(app: App, monkeypatch):
    monkeypatch.setattr("towpath.server.webhooks.dispatching._DELIVERIES", 10)
    sizes, move = [], dispatching._move

    async def measured(tx, expected, token, deliveries):
        sizes.append(len(deliveries))
        return await move(tx, expected, token, deliveries)

    monkeypatch.setattr(dispatching, "_move", measured)
    webhooks, jobs = [await a_hook(app) for _ in range(4)], await some_endings(app, 20)
    await dispatched(app, 20)
    assert [await told(app, webhook) for webhook in webhooks] == [Counter(jobs)] * 4
    assert max(sizes) <= 10 + 4


async def test_deliveries_whose_job_was_pruned_are_forgotten(app: App):
    webhook, [job] = await a_hook(app), await some_endings(app, 1)
    await dispatched(app)
    [delivery] = await sent.page(app.services.store, webhook, None, 10)
    await app.cancel(delivery.id)
    await app.delete(delivery.id)
    assert await told(app, webhook) == Counter()

    async def forget(tx):
        return await tx.execute("webhook_deliveries_forget", before=tx.now, limit=10)

    assert await app.services.store.run(forget) == 1
    assert await app.get(job)
