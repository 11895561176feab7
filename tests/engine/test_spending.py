"""Spend limits: work that costs waits visibly for as long as there is no money for it, and never goes past a limit."""

import asyncio
from datetime import UTC, datetime

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, happened, in_state, working
from towpath import SchemaInvalid, State, Transient
from towpath.store.spending import next_month


def costly(app, cents=60.0, real=None, limit=None):
    @app.operation("costly", retry=AT_ONCE)
    async def work(ctx, payload):
        await ctx.spend(payload.get("cents", cents), limit=limit)
        if real is not None:
            await ctx.spent(real)
        return "done"


async def test_without_a_limit_nothing_waits(app):
    costly(app)
    job = await app.enqueue("costly", {}, tenant="anna")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "done"


async def test_work_beyond_the_limit_waits_for_budget_and_goes_on_when_it_is_raised(app):
    costly(app)
    await app.spending.limit_tenant("anna", 100)
    async with working(app, concurrency=1):
        first = await app.enqueue("costly", {}, tenant="anna")
        assert await app.result(first.id, timeout=20) == "done"
        second = await app.enqueue("costly", {}, tenant="anna")
        row = await in_state(app, second, "waiting")
        assert (row.reason, row.leased) == ("budget", False)
        told = await app.explain(second.id)
        assert "may spend 100 cents this month, and 60 are spent" in told.sentence
        assert told.remedy == "raise the limit, and it goes on by itself: towpath limits set anna CENTS"
        other = await app.enqueue("costly", {}, tenant="bert")
        assert await app.result(other.id, timeout=20) == "done"
        await app.spending.limit_tenant("anna", 120)
        assert await app.result(second.id, timeout=20) == "done"
    [limit] = await app.spending.limits()
    assert (limit.name, limit.cents, limit.period, limit.spent) == ("anna", 120, "month", 120)


async def test_taking_the_limit_away_lets_everybody_go_on(app):
    costly(app)
    await app.spending.limit_tenant("anna", 0, period="ever")
    jobs = [await app.enqueue("costly", {}, tenant="anna") for _ in range(3)]
    async with working(app):
        for job in jobs:
            await in_state(app, job, "waiting")
        await app.spending.limit_tenant("anna", None)
        for job in jobs:
            assert await app.result(job.id, timeout=20) == "done"


async def test_what_turned_out_cheaper_lets_the_next_one_through(app):
    costly(app, cents=60.0, real=10.0)
    await app.spending.limit_tenant("anna", 100)
    jobs = [await app.enqueue("costly", {}, tenant="anna") for _ in range(5)]
    async with working(app):
        for job in jobs:
            assert await app.result(job.id, timeout=30) == "done"
    [limit] = await app.spending.limits()
    assert limit.spent == 50


async def test_many_at_once_never_go_past_the_limit(app):
    costly(app, cents=10.0)
    await app.spending.limit_tenant("anna", 100)
    jobs = [await app.enqueue("costly", {}, tenant="anna") for _ in range(30)]
    async with working(app, concurrency=16):

        async def settled():
            states = [(await app.get(job.id)).state for job in jobs]
            return states.count(State.SUCCEEDED) + states.count(State.WAITING) == 30

        await eventually(settled)
    states = [(await app.get(job.id)).state for job in jobs]
    assert states.count(State.SUCCEEDED) == 10
    [limit] = await app.spending.limits()
    assert limit.spent == 100


async def test_a_run_has_a_limit_of_its_own_that_children_share(app):
    @app.operation("child")
    async def child(ctx, payload):
        await ctx.spend(40)
        return "done"

    @app.operation("run")
    async def run(ctx, payload):
        await ctx.spend(0, limit=100)
        return (await ctx.gather("child", [1, 2, 3])).total

    job = await app.enqueue("run", {})
    async with working(app):
        await eventually(lambda: _waiting(app, "child"))
        [stuck] = await _waiting(app, "child")
        assert "this run may spend 100 cents, and 80 are spent" in (await app.explain(stuck.id)).sentence
        await app.spending.limit_run(stuck.id, 120)
        assert await app.result(job.id, timeout=20) == 3


async def _waiting(app, operation):
    return [job for job in await app.list(operation=operation, state="waiting") if job.reason == "budget"]


async def test_a_retry_is_held_back_for_once(app):
    @app.operation("twice", retry=AT_ONCE)
    async def twice(ctx, payload):
        await ctx.spend(60)
        if ctx.attempt == 1:
            raise Transient("once more")
        await ctx.spent(55)
        await ctx.spent(99)
        return "done"

    await app.spending.limit_tenant("default", 100)
    job = await app.enqueue("twice", {})
    async with working(app):
        assert await app.result(job.id, timeout=20) == "done"
    [limit] = await app.spending.limits()
    assert limit.spent == 55
    assert len(await happened(app, job, "budget.held")) == 1
    assert len(await happened(app, job, "budget.spent")) == 1


async def test_what_a_cancelled_job_held_back_is_free_again(app):
    entered = asyncio.Event()

    @app.operation("slow")
    async def slow(ctx, payload):
        await ctx.spend(80)
        entered.set()
        await asyncio.sleep(60)

    await app.spending.limit_tenant("default", 100)
    job = await app.enqueue("slow", {})
    async with working(app):
        await asyncio.wait_for(entered.wait(), 20)
        await app.cancel(job.id)
        await ended(app, job)
    [limit] = await app.spending.limits()
    assert limit.spent == 0


@pytest.mark.parametrize("cents", [-1, float("nan"), float("inf")])
async def test_limits_are_sensible(app, cents):
    with pytest.raises(SchemaInvalid):
        await app.spending.limit_tenant("anna", cents)
    with pytest.raises(SchemaInvalid):
        await app.spending.limit_tenant("anna", 1, period="week")


def test_a_month_is_followed_by_the_next():
    assert next_month(datetime(2026, 11, 18, 5, tzinfo=UTC)) == datetime(2026, 12, 1, tzinfo=UTC)
    assert next_month(datetime(2026, 12, 31, 23, 59, tzinfo=UTC)) == datetime(2027, 1, 1, tzinfo=UTC)
