"""What models were used for, added up by tenant, operation and model; once, whatever happens to the job meanwhile."""

import pytest

from tests.engine.working import AT_ONCE, ended, in_state, working
from towpath import Fatal, SchemaInvalid, Transient
from towpath.core.usage import Price


@pytest.fixture
def app(app):
    @app.operation("ask", queue="q", retry=AT_ONCE)
    async def ask(ctx, how):
        async def step():
            await ctx.meter(model="large", tokens_in=1000, tokens_out=100, cost_cents=2.5)
            await ctx.meter(model="small", tokens_in=10, tokens_out=1)
            if how == "flaky" and ctx.attempt == 1:
                raise Transient("again")
            if how == "fail":
                raise Fatal("no")

        await ctx.step("think", step)
        if how == "plain":
            await ctx.meter(model="small", tokens_in=5)
        if how == "sleep":
            await ctx.sleep(0.0)
        if how == "wait":
            await ctx.wait_for("go")

    return app


async def spent(app, **options):
    found = await app.statistics("1h", **options)
    return {(line.tenant, line.model): (line.tokens_in, line.tokens_out, line.cost.cents) for line in found.cost}


async def run(app, how, **options):
    job = await app.enqueue("ask", how, **options)
    async with working(app):
        return await ended(app, job)


async def test_each_model_of_a_step_is_counted_for_its_tenant(app):
    await run(app, "ok", tenant="alice")
    await run(app, "plain", tenant="bob")
    assert await spent(app) == {
        ("alice", "large"): (1000, 100, 2.5),
        ("alice", "small"): (10, 1, None),
        ("bob", "large"): (1000, 100, 2.5),
        ("bob", "small"): (15, 1, None),
    }
    assert set(await spent(app, tenant="bob")) == {("bob", "large"), ("bob", "small")}


async def test_what_a_failed_attempt_used_was_used_all_the_same(app):
    await run(app, "flaky")
    assert (await spent(app))["default", "large"] == (2000, 200, 5.0)
    await run(app, "fail")
    assert (await spent(app))["default", "large"] == (3000, 300, 7.5)


async def test_a_step_that_is_answered_from_its_record_is_not_counted_again(app):
    job = await app.enqueue("ask", "wait")
    async with working(app):
        await in_state(app, job, "waiting")
        await app.signal(job.id, "go")
        assert (await ended(app, job)).attempt == 2
    assert (await spent(app))["default", "large"] == (1000, 100, 2.5)


async def test_the_price_list_applies_to_what_came_without_a_price_also_afterwards(app):
    await run(app, "ok")
    found = await app.statistics("24h")
    assert (found.totals.cost.cents, found.totals.cost.unpriced) == (2.5, True)
    await app.prices.put({"small": Price(100_000.0, 200_000.0), "large": Price(1.0, 1.0)})
    for window in ("1h", "24h", "7d"):
        found = await app.statistics(window)
        assert found.totals.cost.unpriced is False
        assert found.totals.cost.cents == pytest.approx(2.5 + 1.0 + 0.2)
        assert sum(point.cost.cents or 0.0 for point in found.series) == pytest.approx(3.7)
        assert sum(line.cost.cents or 0.0 for line in found.cost) == pytest.approx(3.7)
    assert {point.cost.cents for point in found.series[:-2]} == {None}


async def test_a_new_list_replaces_the_old_one(app):
    await app.prices.put({"a": Price(1.0, 2.0), "b": Price(0.0, 0.0)})
    await app.prices.put({"b": Price(3.0, 4.0)})
    assert await app.prices.get() == {"b": Price(3.0, 4.0)}


@pytest.mark.parametrize("price", [Price(-1.0, 0.0), Price(0.0, float("inf")), Price(float("nan"), 1.0)])
async def test_a_price_that_is_none_is_refused(app, price):
    with pytest.raises(SchemaInvalid, match="zero or more cents"):
        await app.prices.put({"m": price})
