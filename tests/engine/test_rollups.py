"""Queue depths and counts per minute, kept beside the jobs: right after any load, read without counting a job."""

import asyncio

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, in_state, on_sqlite, working
from towpath import Fatal, Partial, RetryLater, Transient
from towpath.engine.tending.rollups import roll_up
from towpath.testing import FakeClock, drain


async def depths(app):
    await roll_up(app.services.store)
    return {view.name: (view.queued, view.running, view.waiting) for view in await app.queues.list()}


async def flows(app):
    await roll_up(app.services.store)
    async with app.transaction() as tx:
        table = "towpath_rollup" if app.services.store.dialect == "sqlite" else "towpath.rollup"
        names = ["created", "started", "succeeded", "partial", "failed", "cancelled", "retried"]
        rows = await tx.fetch(f"SELECT {', '.join(f'sum({name}) AS {name}' for name in names)} FROM {table}")
    return {name: rows[0][name] for name in names if rows[0][name]}


@pytest.fixture
def app(app):
    @app.operation("work", queue="q", retry=AT_ONCE)
    async def work(ctx, how):
        match how:
            case "fail":
                raise Fatal("no")
            case "flaky" if ctx.attempt < 3:
                raise Transient("again")
            case "later" if ctx.fence == 1:
                raise RetryLater("busy", delay_seconds=0)
            case "family":
                await ctx.gather("work", ["ok", "ok", "flaky"])
            case "spawn":
                await ctx.spawn("work", ["ok", "fail"])
            case "sleep":
                await ctx.sleep(3600)
            case "hang":
                await asyncio.sleep(3600)
        return Partial() if how == "partial" else None

    return app


async def test_depths_and_counts_are_right_after_a_mixed_load(app):
    how = ["ok"] * 20 + ["fail"] * 3 + ["flaky"] * 4 + ["partial", "later", "family", "spawn"]
    jobs = await app.enqueue_many([{"operation": "work", "payload": each} for each in how])
    assert (await depths(app))["q"] == (len(how), 0, 0)
    async with working(app, concurrency=6):
        for job in jobs:
            await ended(app, job)
    assert (await depths(app))["q"] == (0, 0, 0)
    rows = await app.list(limit=1000)
    assert await flows(app) == {
        "created": len(rows),
        "started": sum(row.attempt for row in rows),
        "succeeded": sum(row.state == "succeeded" for row in rows),
        "partial": sum(row.state == "partial" for row in rows),
        "failed": sum(row.state == "failed" for row in rows),
        "retried": sum(row.failures for row in rows if row.state == "succeeded") + 1,
    }


async def test_depths_follow_each_state(app):
    await app.enqueue("work", "ok", delay=3600)
    sleeping, hanging = await app.enqueue("work", "sleep"), await app.enqueue("work", "hang")
    async with working(app):
        await in_state(app, sleeping, "waiting")
        await in_state(app, hanging, "running")
        assert (await depths(app))["q"] == (1, 1, 1)
        await app.cancel(hanging.id)
        await app.cancel(sleeping.id)
        assert (await depths(app))["q"] == (1, 0, 0)
        await app.requeue(hanging.id)
        await eventually(lambda: _are(app, (1, 1, 0)))
    assert (await depths(app))["q"] == (2, 0, 0)  # handed back when the worker stopped


async def _are(app, expected):
    return (await depths(app))["q"] == expected


async def test_depths_count_live_workers(app):
    async with working(app, "q"), working(app, "q", "other"):
        await eventually(lambda: _workers(app, {"q": 2}))
    assert {view.name: view.workers for view in await app.queues.list()} == {"q": 0}


async def _workers(app, expected):
    return {view.name: view.workers for view in await app.queues.list()} == expected


@on_sqlite
async def test_whatever_a_job_comes_to_is_counted_in_the_minute_that_the_clock_of_the_app_says(new_app):
    clock = FakeClock()
    app = new_app(clock=clock)

    @app.operation("work", retry=AT_ONCE)
    async def work(ctx, how):
        if how == "fail":
            raise Fatal("no")
        return Partial() if how == "partial" else None

    async with app:
        minutes = []
        for how in ("ok", "fail", "partial"):
            await app.enqueue("work", how)
            await drain(app, within=0)
            minutes.append(clock.now.timestamp())
            clock.advance(60)
        await roll_up(app.services.store)
        async with app.transaction() as tx:
            rows = await tx.fetch("SELECT minute, succeeded, failed, partial FROM towpath_rollup ORDER BY minute")
    assert [tuple(row.values()) for row in rows] == [
        (minutes[0], 1, 0, 0), (minutes[1], 0, 1, 0), (minutes[2], 0, 0, 1),
    ]  # fmt: skip
