"""One 429 slows every worker that shares the budget, and costs nobody an attempt."""

import pytest

from tests.engine.working import ended, eventually, happened, working
from towpath import RateLimited, RetryLater, State


async def test_a_rate_limit_uses_no_attempt_and_returns_when_the_budget_opens(app):
    @app.operation("call", max_attempts=1)
    async def call(ctx):
        raise RateLimited("slow down", retry_after=120, budget="vendor")

    job = await app.enqueue("call")
    async with working(app):
        [event] = await eventually(lambda: happened(app, job, "job.retry_later"))
    row = await app.get(job.id)
    assert (row.state, row.failures, row.reason) == (State.QUEUED, 0, "rate_limited")
    assert event.message == "slow down"
    assert 120 <= (row.run_at - event.ts).total_seconds() <= 133


async def test_one_refusal_slows_every_worker_of_that_budget(app, opened):
    """Two processes' worth of apps: only one of them was refused, both hold back."""
    other = await opened()
    called = {"here": 0, "there": 0}

    for where, each in (("here", app), ("there", other)):

        @each.operation("call", queue=where, budget="vendor")
        async def call(ctx):
            called[ctx.queue] += 1
            raise RateLimited("slow down", retry_after=300, budget="vendor")

        @each.operation("free", queue=where)
        async def free(ctx):
            return ctx.queue

    async with working(app, "here"), working(other, "there"):
        first = await app.enqueue("call")
        await eventually(lambda: happened(app, first, "job.retry_later"))
        others = [await other.enqueue("call") for _ in range(3)] + [await app.enqueue("call")]
        for job in others:
            await eventually(lambda job=job: happened(app, job, "job.retry_later"))
        assert await other.result((await other.enqueue("free")).id, timeout=10) == "there"
    assert called == {"here": 1, "there": 0}
    for job in others:
        row = await app.get(job.id)
        assert (row.reason, row.failures) == ("rate_limited", 0)


async def test_a_short_rate_limit_inside_a_step_is_waited_out_in_place(app):
    calls = []

    @app.operation("ask")
    async def ask(ctx):
        async def call():
            calls.append(ctx.fence)
            if len(calls) < 3:
                raise RateLimited("slow down", retry_after=0.05, budget="vendor")
            return "answer"

        return await ctx.step("ask", call)

    job = await app.enqueue("ask")
    async with working(app):
        assert await app.result(job.id, timeout=10) == "answer"
    assert calls == [1, 1, 1]
    assert len(await happened(app, job, "step.rate_limited")) == 2
    assert len(await happened(app, job, "job.started")) == 1
    assert (await app.steps(job.id))[0].retries == 0


async def test_a_long_rate_limit_inside_a_step_gives_the_slot_back(app):
    @app.operation("ask")
    async def ask(ctx):
        async def call():
            raise RateLimited("slow down", retry_after=90, budget="vendor")

        return await ctx.step("ask", call)

    @app.operation("quick")
    async def quick(ctx):
        return "through"

    job = await app.enqueue("ask")
    async with working(app, concurrency=1):
        await eventually(lambda: happened(app, job, "job.retry_later"))
        assert await app.result((await app.enqueue("quick")).id, timeout=10) == "through"
    row = await app.get(job.id)
    assert (row.state, row.reason, row.failures) == (State.QUEUED, "rate_limited", 0)


async def test_a_budget_that_opens_soon_is_waited_for_in_the_slot(app):
    @app.operation("call", budget="vendor")
    async def call(ctx):
        return "through"

    await app.services.budgets.block("vendor", 0.2, "asked to")
    job = await app.enqueue("call")
    async with working(app):
        assert (await ended(app, job)).result == "through"
    assert len(await happened(app, job, "job.started")) == 1


async def test_an_operation_can_ask_for_a_budget_itself(app):
    @app.operation("call")
    async def call(ctx):
        await ctx.budget("vendor")
        pytest.fail("the budget is blocked")

    await app.services.budgets.block("vendor", 60, "asked to")
    job = await app.enqueue("call")
    async with working(app):
        await eventually(lambda: happened(app, job, "job.retry_later"))
    assert (await app.get(job.id)).reason == "rate_limited"


@pytest.mark.parametrize("seconds", [1e15, float("inf")])
async def test_a_wait_beyond_reason_is_cut_to_a_year(app, seconds):
    @app.operation("call")
    async def call(ctx, later):
        raise RetryLater("busy", seconds) if later else RateLimited("no", retry_after=seconds, budget="ven\x00dor")

    jobs = [await app.enqueue("call", later) for later in (True, False)]
    async with working(app):
        for job in jobs:
            [event] = await eventually(lambda job=job: happened(app, job, "job.retry_later"))
            row = await app.get(job.id)
            assert row.failures == 0
            assert 364 < (row.run_at - event.ts).days < 410
