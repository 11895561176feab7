"""Draining: everything that is ready runs, time passes by jumps, and what needs a decision is left alone."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from towpath import App, ConfigurationError, Context, Fatal, RateLimited, Retry, RetryLater, State, Transient
from towpath.core import failpoints
from towpath.testing import FakeClock, drain, run_operation, temporary_app


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def app(clock):
    async with temporary_app(clock=clock) as app:
        yield app


async def test_everything_that_is_ready_runs_and_nothing_else(app):
    ran = []

    @app.operation("note", queue="notes")
    async def note(ctx: Context, payload: str):
        ran.append(payload)

    @app.operation("other", queue="elsewhere")
    async def other(ctx: Context, payload: str):
        ran.append(payload)

    await app.enqueue_many([{"operation": "note", "payload": name} for name in "abc"])
    await app.enqueue("other", "d")
    assert await drain(app, ["notes"]) == 3
    assert ran == ["a", "b", "c"]
    assert await drain(app) == 1
    assert await drain(app) == 0


async def test_follow_ups_and_children_are_drained_too(app):
    @app.operation("leaf")
    async def leaf(ctx: Context, payload: int):
        return payload * 2

    @app.operation("tree")
    async def tree(ctx: Context):
        children = await ctx.gather("leaf", range(5))
        ctx.enqueue("leaf", 100)
        return await children.results()

    job = await run_operation(app, "tree")
    assert (job.state, job.result) == (State.SUCCEEDED, [0, 2, 4, 6, 8])
    assert [other.result for other in await app.list(operation="leaf") if other.parent_id is None] == [200]


async def test_the_clock_jumps_to_each_retry_in_turn(app, clock):
    tries = []

    @app.operation("flaky", retry=Retry(limit=4, base=60, factor=10, max_delay=6000, jitter=False))
    async def flaky(ctx: Context):
        tries.append(clock.now)
        if ctx.attempt < 4:
            raise Transient("not yet")

    job = await run_operation(app, "flaky")
    assert job.state is State.SUCCEEDED
    assert [round((later - earlier).total_seconds()) for earlier, later in pairwise(tries)] == [
        60,
        600,
        6000,
    ]


async def test_a_year_of_sleep_takes_no_time(app, clock):
    @app.operation("hibernate", max_wait=10)
    async def hibernate(ctx: Context):
        await ctx.sleep(365 * 86400)
        return "awake"

    start = clock.now
    job = await run_operation(app, "hibernate")
    assert job.result == "awake"
    assert clock.now >= start + timedelta(days=365)


async def test_scheduled_jobs_run_in_the_order_of_their_times(app, clock):
    ran = []

    @app.operation("note")
    async def note(ctx: Context, payload: str):
        ran.append((payload, clock.now))

    start = clock.now
    await app.enqueue("note", "late", run_at=start + timedelta(hours=2))
    await app.enqueue("note", "early", delay=3600)
    assert await drain(app) == 2
    assert [name for name, _ in ran] == ["early", "late"]
    assert ran[0][1] >= start + timedelta(hours=1)
    assert ran[1][1] >= start + timedelta(hours=2)


async def test_the_clock_goes_no_further_than_within(app, clock):
    @app.operation("note")
    async def note(ctx: Context):
        return None

    start = clock.now
    soon, late = await app.enqueue("note", delay=60), await app.enqueue("note", delay=7200)
    assert await drain(app, within=3600) == 1
    assert (await app.get(soon.id)).state is State.SUCCEEDED
    assert (await app.get(late.id)).state is State.QUEUED
    assert clock.now < start + timedelta(seconds=3600)


async def test_a_wait_for_a_signal_is_left_to_the_test(app, clock):
    @app.operation("ask")
    async def ask(ctx: Context):
        return await ctx.wait_for("answer", timeout=600)

    start = clock.now
    job = await run_operation(app, "ask")
    assert (job.state, job.reason, clock.now) == (State.WAITING, "signal", start)

    await app.signal(job.id, "answer", {"yes": True})
    await drain(app)
    assert (await app.get(job.id)).result == {"yes": True}


async def test_the_timeout_of_a_signal_comes_when_the_test_moves_the_clock(app, clock):
    @app.operation("ask")
    async def ask(ctx: Context):
        try:
            return await ctx.wait_for("answer", timeout=600)
        except TimeoutError:
            return "nobody answered"

    job = await run_operation(app, "ask")
    clock.advance(601)
    await drain(app)
    assert (await app.get(job.id)).result == "nobody answered"


async def test_an_operation_nobody_knows_does_not_keep_the_drain_busy(app, clock):
    start = clock.now
    job = await app.enqueue("mystery", {}, queue="default")
    await drain(app)
    assert (await app.get(job.id)).reason == "no_handler"
    assert clock.now == start


async def test_a_job_that_comes_back_later_is_met_there(app, clock):
    tries = []

    @app.operation("busy", max_attempts=1)
    async def busy(ctx: Context):
        tries.append(clock.now)
        if len(tries) < 5:
            raise RetryLater("GPU busy", delay_seconds=3600)

    job = await run_operation(app, "busy")
    assert (job.state, job.retry_laters) == (State.SUCCEEDED, 4)
    assert tries[-1] - tries[0] >= timedelta(hours=4)


async def test_a_blocked_budget_opens_when_the_clock_has_passed_it(app):
    tries = []

    @app.operation("call", budget="api")
    async def call(ctx: Context):
        tries.append(ctx.attempt)
        if len(tries) == 1:
            raise RateLimited("slow down", retry_after=3600, budget="api")
        return "answered"

    job = await run_operation(app, "call")
    assert (job.result, job.retry_laters, tries) == ("answered", 1, [1, 1])


async def test_a_schedule_fires_when_the_test_moves_the_clock(clock):
    async with temporary_app(clock=clock) as probe:
        assert probe.clock is clock
    app = App("sqlite:///unused.db")
    ran = []

    @app.operation("report")
    async def report(ctx: Context):
        ran.append(clock.now)

    app.schedule("nightly", "0 3 * * *", "report")
    async with temporary_app(app, clock=clock):
        assert await drain(app) == 0
        clock.advance(timedelta(days=1))
        assert await drain(app) == 1
        assert ran == [clock.now]


async def test_a_failure_is_answered_with_its_kind_and_remedy(app):
    @app.operation("broken")
    async def broken(ctx: Context):
        raise Fatal("no such file", remedy="upload it again")

    job = await run_operation(app, "broken")
    assert job.state is State.FAILED
    assert job.error["kind"] == "fatal"
    assert job.error["message"] == "no such file"
    assert job.error["remedy"] == "upload it again"


async def test_an_operation_that_hangs_is_named_and_handed_back(app):
    @app.operation("hang")
    async def hang(ctx: Context):
        await asyncio.Event().wait()

    job = await app.enqueue("hang")
    with pytest.raises(TimeoutError, match=rf"still running: hang \({job.id}\)"):
        await drain(app, timeout=3)
    assert (await app.get(job.id)).state is State.QUEUED


async def test_plain_functions_are_drained_too(app):
    @app.operation("sync")
    def sync(ctx, payload: dict):
        ctx.progress(1, 2)
        return payload["a"] + 1

    assert (await run_operation(app, "sync", {"a": 1})).result == 2


async def test_without_a_fake_clock_what_is_due_later_stays(database_url):
    app = App(database_url)

    @app.operation("note")
    async def note(ctx: Context, payload: int):
        return payload

    async with app:
        jobs = await app.enqueue_many([{"operation": "note", "payload": number} for number in range(20)])
        later = await app.enqueue("note", 99, run_at=datetime.now(UTC) + timedelta(hours=1))
        assert await drain(app) == 20
        assert [(await app.get(job.id)).result for job in jobs] == list(range(20))
        assert (await app.get(later.id)).state is State.QUEUED


async def test_your_own_app_moves_to_the_temporary_database_and_back(sqlite_url):
    mine = App(sqlite_url)

    @mine.operation("note")
    async def note(ctx: Context):
        return "noted"

    clock_before = mine.clock
    async with temporary_app(mine, clock=FakeClock()) as app:
        assert app is mine
        assert mine.url != sqlite_url
        assert (await run_operation(app, "note")).result == "noted"
        with pytest.raises(ConfigurationError, match="open already"):
            async with temporary_app(mine):
                pass
    assert (mine.url, mine.clock, mine.home) == (sqlite_url, clock_before, None)
    async with mine:
        assert await mine.list() == []


async def test_each_temporary_app_has_a_database_of_its_own():
    async with temporary_app() as one, temporary_app() as two:
        for app in (one, two):
            app.operation("note")(lambda ctx: None)
        await one.enqueue("note")
        assert len(await one.list()) == 1
        assert await two.list() == []


async def test_a_worker_that_waits_for_an_operation_to_end_does_not_spin(app):
    claims = []
    release = asyncio.Event()

    @app.operation("slow")
    async def slow(ctx: Context):
        await release.wait()

    await app.enqueue("slow")
    failpoints.install(lambda name: claims.append(name) if name == "worker.claimed" else None)
    try:
        asyncio.get_running_loop().call_later(0.3, release.set)
        assert await drain(app) == 1
    finally:
        failpoints.install(None)
    assert 0 < len(claims) < 50  # spinning makes thousands


async def test_a_test_brings_its_own_resources_and_takes_them_away_again(sqlite_url):
    mine = App(sqlite_url)

    @mine.resource("model")
    def model():
        return "the real one"

    @mine.operation("ask")
    async def ask(ctx: Context):
        return await ctx.resources.get("model")

    async with temporary_app(mine, resources={"model": lambda: "a fake"}):
        assert (await run_operation(mine, "ask")).result == "a fake"
    async with temporary_app(mine):
        assert (await run_operation(mine, "ask")).result == "the real one"


async def test_a_signal_without_a_timeout_is_waited_for_as_long_as_it_takes(app, clock):
    @app.operation("ask", max_wait=3600)
    async def ask(ctx: Context):
        return await ctx.wait_for("answer")

    job = await run_operation(app, "ask")
    for _ in range(3):
        clock.advance(timedelta(days=30))
        await drain(app)
        assert (await app.get(job.id)).state is State.WAITING
    await app.signal(job.id, "answer", "at last")
    await drain(app)
    assert (await app.get(job.id)).result == "at last"
