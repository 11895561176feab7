"""Statistics of a window: exact for everybody together, from the newest jobs for one tenant, and always bounded."""

from datetime import timedelta
from functools import partial

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, working
from towpath import ConfigurationError, Fatal, Partial, Transient
from towpath.core.records import WorkerRow
from towpath.engine.asking.statistics import sampling
from towpath.engine.tending.occupancy import take_sample
from towpath.store.contract import sign_of_life

COUNTS = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried")
WINDOWS = ("1h", "24h", "7d")


@pytest.fixture
def app(app):
    for name, queue in (("work", "q"), ("other", "p")):

        @app.operation(name, queue=queue, retry=AT_ONCE)
        async def work(ctx, how):
            if how == "fail":
                raise Fatal("no")
            if how == "flaky" and ctx.attempt < 3:
                raise Transient("again")
            return Partial() if how == "partial" else None

    return app


async def lived(app, *hows, operation="work", tenant="default"):
    asked = [{"operation": operation, "payload": how, "tenant": tenant} for how in hows]
    jobs = await app.enqueue_many(asked)
    async with working(app):
        for job in jobs:
            await ended(app, job)
    return jobs


def counts(flow):
    return {name: getattr(flow, name) for name in COUNTS if getattr(flow, name)}


async def backdate(app, by: timedelta):
    """Moves everything that was counted into the past."""
    seconds = by.total_seconds()
    sqlite = app.services.store.dialect == "sqlite"
    shift = f"- {seconds}" if sqlite else f"- interval '{seconds} seconds'"
    prefix = "towpath_" if sqlite else "towpath."
    async with app.transaction() as tx:
        for table, column in (("count_delta", "at"), ("rollup", "minute"), ("histogram", "quarter")):
            await tx.execute(f"UPDATE {prefix}{table} SET {column} = {column} {shift}")


async def test_everything_that_happened_is_in_the_totals_and_in_the_series(app):
    await lived(app, "ok", "ok", "fail", "partial", "flaky")
    expected = {"created": 5, "started": 7, "succeeded": 3, "failed": 1, "partial": 1, "retried": 2}
    for window in WINDOWS:
        found = await app.statistics(window)
        assert counts(found.totals.flow) == expected
        summed = {name: sum(getattr(point.flow, name) for point in found.series) for name in COUNTS}
        assert {name: value for name, value in summed.items() if value} == expected
        assert found.totals.flow.failure_rate == 1 / 5
        assert found.totals.flow.retry_rate == 2 / 7
        assert found.sampled is False
        assert sum(found.totals.flow.waits.values()) == sum(found.totals.flow.runs.values()) == 5
        assert found.totals.flow.run_ms(0.5) is not None


async def test_a_series_has_a_point_for_every_slot_up_to_now(app):
    for window, points, seconds in (("1h", 60, 60), ("24h", 96, 900), ("7d", 168, 3600)):
        found = await app.statistics(window)
        assert (len(found.series), found.bucket_seconds) == (points, seconds)
        now = await app.now()
        assert timedelta(0) <= now - found.series[-1].at < timedelta(seconds=2 * seconds)
        steps = {b.at - a.at for a, b in zip(found.series, found.series[1:], strict=False)}
        assert steps == {timedelta(seconds=seconds)}


async def test_of_nothing_nothing_is_known(app):
    found = await app.statistics("24h")
    assert counts(found.totals.flow) == {}
    assert found.totals.flow.failure_rate is None
    assert found.totals.flow.retry_rate is None
    assert found.totals.flow.wait_ms(0.5) is None
    assert (found.totals.cost.cents, found.totals.cost.unpriced) == (None, False)
    assert found.operations == found.cost == found.budgets == []
    assert found.workers.busy_ratio is None


async def test_filters_by_operation_and_queue(app):
    await lived(app, "ok", "fail")
    await lived(app, "ok", "ok", "ok", operation="other")
    assert counts((await app.statistics(operation="work")).totals.flow)["succeeded"] == 1
    assert counts((await app.statistics(queue="p")).totals.flow)["succeeded"] == 3
    assert counts((await app.statistics(queue="p", operation="work")).totals.flow) == {}
    lines = (await app.statistics()).operations
    assert [(line.operation, line.flow.ended, line.flow.failed) for line in lines] == [("work", 2, 1), ("other", 3, 0)]


async def test_the_trend_compares_with_the_window_before(app):
    await lived(app, "ok", "fail", "fail", "fail")
    await backdate(app, timedelta(hours=30))
    await lived(app, "ok", "ok", "ok", "fail")
    found = await app.statistics("24h")
    assert [(line.operation, line.trend) for line in found.operations] == [("work", 0.25 - 0.75)]
    assert counts(found.before.flow)["failed"] == 3
    assert counts(found.totals.flow)["failed"] == 1
    assert found.before.flow.run_ms(0.5) is not None


async def test_without_a_window_before_there_is_no_trend(app):
    await lived(app, "fail")
    assert [line.trend for line in (await app.statistics()).operations] == [None]


async def test_one_tenant_sees_its_own_jobs_only(app):
    await lived(app, "ok", "flaky", "fail", tenant="alice")
    await lived(app, "ok", tenant="bob")
    for window in WINDOWS:
        alice, bob = await app.statistics(window, tenant="alice"), await app.statistics(window, tenant="bob")
        assert counts(alice.totals.flow) == {"created": 3, "started": 5, "succeeded": 2, "failed": 1, "retried": 2}
        assert counts(bob.totals.flow) == {"created": 1, "started": 1, "succeeded": 1}
        assert sum(alice.totals.flow.waits.values()) == sum(alice.totals.flow.runs.values()) == 3
        assert (alice.sampled, bob.sampled) == (False, False)
        assert len(alice.series) == len((await app.statistics(window)).series)
    assert counts((await app.statistics(tenant="alice", operation="other")).totals.flow) == {}
    assert counts((await app.statistics(tenant="nobody")).totals.flow) == {}


async def test_of_too_many_jobs_of_a_tenant_the_newest_are_looked_at_and_that_is_said(app, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_JOBS", 3)
    await lived(app, "fail", "ok", "ok", "ok", tenant="alice")
    found = await app.statistics(tenant="alice")
    assert found.sampled is True
    assert counts(found.totals.flow) == {"created": 3, "started": 3, "succeeded": 3}


async def test_how_busy_workers_are_is_an_average_over_their_heartbeats(app):
    async def beat(tx, running):
        row = WorkerRow("w", "w", concurrency=4, running=running)
        await tx.execute("put_worker", **sign_of_life(row, tx.now, tx.now + timedelta(seconds=30)))
        await take_sample(tx)

    for running in (1, 3, 4):
        await app.services.store.run(partial(beat, running=running))
    workers = (await app.statistics("1h")).workers
    assert (workers.alive, workers.concurrency, workers.running) == (1, 4, 4)
    assert workers.busy_ratio == (1 + 3 + 4) / 12


async def test_a_worker_samples_by_itself(app):
    async with working(app, concurrency=4):
        await eventually(lambda: _has_been_sampled(app))


async def _has_been_sampled(app):
    return (await app.statistics("1h")).workers.busy_ratio is not None


async def test_budgets_that_are_blocked_are_told(app):
    await app.services.budgets.block("openai", 60, "slow down")
    [budget] = (await app.statistics()).budgets
    assert (budget.name, budget.reason) == ("openai", "slow down")


async def test_a_window_there_is_not_is_named_with_those_there_are(app):
    with pytest.raises(ConfigurationError, match="'2h'; the windows are 1h, 24h, 7d"):
        await app.statistics("2h")
