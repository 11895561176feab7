"""PostgreSQL is away for longer than anybody waits: what a live worker has done is held, and its stop does not hang."""

import asyncio
import contextlib

import pytest

from tests.chaos.proxy import Proxy
from tests.engine.test_schedules import NEVER_SOON
from tests.engine.working import eventually, on_postgres, working
from towpath import App, Settings
from towpath.core.errors import StoreUnavailable
from towpath.engine import group_commit
from towpath.engine.running import worker
from towpath.engine.tending import declaring
from towpath.store.postgres import store

pytestmark = on_postgres


@pytest.fixture
def given_up(monkeypatch, caplog):
    """A store that gives up soon, and how often it did."""
    caplog.set_level("INFO", "towpath.group_commit")
    times = []
    monkeypatch.setattr(store, "_OUTAGE_SECONDS", 0.1)
    monkeypatch.setattr(group_commit, "_AWAY_AFTER", 0.1)
    again = store.PostgresStore._again

    async def counted(self, work, **options):
        try:
            return await again(self, work, **options)
        except StoreUnavailable:
            times.append(1)
            raise

    monkeypatch.setattr(store.PostgresStore, "_again", counted)
    return times


@contextlib.asynccontextmanager
async def outage(server, given_up, caplog):
    """Until results are held, and the store has given up on them more than once."""
    await asyncio.to_thread(server.stop)
    try:
        yield
        await eventually(lambda: "are held until" in caplog.text)
        seen = len(given_up)
        await eventually(lambda: len(given_up) > seen + 3)
    finally:
        await asyncio.to_thread(server.start)


async def test_a_result_is_held_until_it_can_be_written(app, postgres_server, given_up, caplog):
    runs, begun, go = [], asyncio.Event(), asyncio.Event()

    @app.operation("paid")
    async def paid(ctx):
        runs.append(ctx.attempt)
        begun.set()
        await go.wait()
        return "paid for"

    job = await app.enqueue("paid")
    async with working(app):
        await begun.wait()
        async with outage(postgres_server, given_up, caplog):
            go.set()
        await eventually(lambda: "what was held is written" in caplog.text)
        row = await app.get(job.id)
    assert (row.result, row.attempt, runs) == ("paid for", 1, [1])


async def test_the_output_of_a_step_is_held_too(app, postgres_server, given_up, caplog):
    calls, begun, go = [], asyncio.Event(), asyncio.Event()

    async def expensive():
        calls.append(1)
        begun.set()
        await go.wait()
        return 7

    @app.operation("steps")
    async def steps(ctx):
        return await ctx.step("expensive", expensive) + await ctx.step("cheap", lambda: 1)

    job = await app.enqueue("steps")
    async with working(app):
        await begun.wait()
        async with outage(postgres_server, given_up, caplog):
            go.set()
        assert await app.result(job.id, timeout=20) == 8
    assert calls == [1]


async def test_a_worker_that_holds_results_ends_after_its_grace(new_app, postgres_server, monkeypatch, caplog):
    for part, name in (
        (group_commit, "_AWAY_AFTER"),
        (worker, "_A_MOMENT"),
        (worker, "_FAREWELL"),
        (declaring, "_FAREWELL"),
    ):
        monkeypatch.setattr(part, name, 0.1)
    app = new_app(drain_seconds=0.5)
    begun, go = asyncio.Event(), asyncio.Event()

    @app.operation("paid")
    async def paid(ctx):
        begun.set()
        await go.wait()

    app.schedule("nightly", NEVER_SOON, "paid")  # which is withdrawn when the app is closed
    await app.open()
    await app.enqueue("paid")
    working_on = asyncio.create_task(app.run_worker())
    await begun.wait()
    await asyncio.to_thread(postgres_server.stop)
    try:
        go.set()
        await eventually(lambda: "does not answer" in caplog.text)
        async with asyncio.timeout(30):  # without a grace of its own it would be the patience of the store, several times
            await app.close()
            await working_on
    finally:
        await asyncio.to_thread(postgres_server.start)
    assert "what this worker holds is not written" in caplog.text
    assert "could not be withdrawn" in caplog.text


async def test_a_worker_says_nothing_alarming_about_its_own_commit(database_url, tmp_path, caplog):
    async with Proxy(database_url) as proxy:
        app = App(proxy.url, settings=Settings(blobs_url=tmp_path.as_uri()))

        @app.operation("plain")
        async def plain(ctx):
            return "a plain result"

        async with app:
            proxy.lose_once(b"a plain result")
            job = await app.enqueue("plain")
            async with working(app):
                assert await app.result(job.id, timeout=20) == "a plain result"
                await eventually(lambda: proxy.lost == 1)
    assert "dropped the late" not in caplog.text
