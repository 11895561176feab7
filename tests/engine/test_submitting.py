"""Orders at batch providers: started at most once, waited for without a slot, ended whatever the provider says."""

import asyncio

import pytest

from tests.contracts.stores import Hands
from tests.engine.working import AT_ONCE, ended, eventually, happened, in_state, working
from tests.providers.scripted import ScriptedProvider
from towpath import NotRequeueable, Order, ProviderState, State
from towpath.core import failpoints
from towpath.providers import Grade
from towpath.providers.simulator import Fault

QUICK = {"poll_interval_seconds": 0.01, "provider_call_seconds": 1.0}


def order(model: str = "m1", count: int = 2) -> Order:
    return Order("", "completion", model, count=count)


async def with_provider(opened, provider: ScriptedProvider, **settings):
    app = await opened(**QUICK, **settings)
    app.provider("SCRIPTED", lambda: provider)

    @app.operation("batch", retry=AT_ONCE)
    async def batch(ctx, payload):
        rows = await ctx.submit("SCRIPTED", [order(model) for model in payload["models"]])
        return [[row.model, row.state.value, row.status, row.error] for row in rows]

    return app


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


async def test_orders_are_submitted_polled_and_answered_in_their_order(opened, provider):
    app = await with_provider(opened, provider)
    job = await app.enqueue("batch", {"models": ["m1", "m2"]})
    async with working(app, concurrency=1):
        result = await app.result(job.id, timeout=20)
    assert "provider" in [event.fields["reason"] for event in await happened(app, job, "job.waiting")]
    assert result == [["m1", "completed", "DONE", None], ["m2", "completed", "DONE", None]]
    assert len(provider.ledger.paid) == 2
    rows = (await app.provider_jobs.of([job.id]))[job.id]
    assert [(row.part, row.model, row.state, row.polls >= 2, row.transient_failures) for row in rows] == [
        (0, "m1", ProviderState.COMPLETED, True, 0),
        (1, "m2", ProviderState.COMPLETED, True, 0),
    ]
    assert all(row.next_poll_at is None and row.ended_at and row.output_uri for row in rows)
    assert len(await happened(app, job, "provider.submitted")) == 2
    assert len(await happened(app, job, "provider.completed")) == 2


async def test_a_job_without_orders_goes_on_at_once(opened, provider):
    app = await with_provider(opened, provider)
    job = await app.enqueue("batch", {"models": []})
    async with working(app):
        assert await app.result(job.id, timeout=20) == []
    assert provider.ledger.paid == []


async def test_an_order_that_is_refused_does_not_take_the_others_with_it(opened, provider):
    app = await with_provider(opened, provider)
    provider.refuses.add("bad")
    job = await app.enqueue("batch", {"models": ["m1", "bad"]})
    async with working(app):
        result = await app.result(job.id, timeout=20)
    assert [line[:2] for line in result] == [["m1", "completed"], ["bad", "failed"]]
    assert "no model bad" in result[1][3]
    assert len(provider.ledger.paid) == 1


async def test_a_provider_that_nobody_registered_is_named(opened):
    app = await opened()

    @app.operation("batch")
    async def batch(ctx, payload):
        await ctx.submit("NOBODY", [order()])

    job = await app.enqueue("batch", {})
    async with working(app):
        row = await ended(app, job)
    assert "no provider is named 'NOBODY'" in row.error["message"]


@pytest.mark.parametrize("grade", [Grade.NAMED, Grade.LISTED])
async def test_an_answer_that_was_lost_is_looked_for_when_the_call_is_over_and_the_job_adopted(opened, grade):
    provider = ScriptedProvider(grade)
    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.LOST_ANSWER)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        row = await in_state(app, job, "waiting")
        assert row.reason == "provider_call"
        assert "may still be on its way" in (await app.explain(job.id)).sentence
        await the_call_is_over(app, job)
        assert await app.result(job.id, timeout=20) == [["m1", "completed", "DONE", None]]
    assert len(provider.ledger.paid) == 1
    assert provider.calls.count("submit") == 1
    assert len(await happened(app, job, "provider.adopted")) == 1


async def the_call_is_over(app, job):
    hands = Hands(app.services.store)
    earlier = "called_at - 60" if hands.store.dialect == "sqlite" else "called_at - interval '60 seconds'"
    await hands.sql(f"UPDATE {hands.table('provider_job')} SET called_at = {earlier} RETURNING 1 AS done")
    await hands.shift("deadline", -60.0, job.id)


async def test_a_call_that_never_arrived_is_made_again_when_the_provider_says_so(opened, provider):
    app = await with_provider(opened, provider)
    died = []

    def die(name):
        if name == "submit.calling" and not died:
            died.append(name)
            raise RuntimeError("killed before the call left")

    failpoints.install(die)
    try:
        job = await app.enqueue("batch", {"models": ["m1"]})
        async with working(app):
            await in_state(app, job, "waiting")
            await the_call_is_over(app, job)
            assert await app.result(job.id, timeout=20) == [["m1", "completed", "DONE", None]]
    finally:
        failpoints.install(None)
    assert len(provider.ledger.paid) == 1
    assert provider.calls.count("find") == 1


class TestNobodyCanSay:
    @pytest.fixture
    def provider(self) -> ScriptedProvider:
        return ScriptedProvider(Grade.AMBIGUOUS)

    async def doubtful(self, app, provider):
        provider.simulator.arm(Fault.LOST_ANSWER)
        job = await app.enqueue("batch", {"models": ["m1"]})
        await in_state(app, job, "waiting")
        await the_call_is_over(app, job)

        async def unknown():
            return await app.provider_jobs.unknown()

        [row] = await eventually(unknown)
        await eventually(lambda: _waits_for(app, job, "submit_unknown"))
        return job, row

    async def test_it_is_parked_visibly_and_not_sent_again(self, opened, provider):
        app = await with_provider(opened, provider)
        async with working(app):
            job, row = await self.doubtful(app, provider)
            told = await app.explain(job.id)
        assert told.reason == "submit_unknown"
        assert row.key in (told.remedy or "")
        assert len(provider.ledger.paid) == 1
        assert provider.calls.count("submit") == 1

    async def test_a_person_adopts_it_by_its_id(self, opened, provider):
        app = await with_provider(opened, provider)
        async with working(app):
            job, row = await self.doubtful(app, provider)
            adopted = await app.provider_jobs.adopt(row.id, provider.ledger.paid[0].external_id)
            assert adopted.state is ProviderState.SUBMITTED
            assert await app.result(job.id, timeout=20) == [["m1", "completed", "DONE", None]]
        assert len(provider.ledger.paid) == 1
        with pytest.raises(NotRequeueable):
            await app.provider_jobs.adopt(row.id, "another")

    async def test_a_person_has_it_sent_again(self, opened, provider):
        app = await with_provider(opened, provider)
        async with working(app):
            job, row = await self.doubtful(app, provider)
            await app.provider_jobs.resubmit(row.id)
            assert await app.result(job.id, timeout=20) == [["m1", "completed", "DONE", None]]
        assert len(provider.ledger.paid) == 2

    async def test_a_setting_has_it_sent_again_without_asking(self, opened, provider):
        app = await with_provider(opened, provider, resubmit_unknown=True)
        provider.simulator.arm(Fault.LOST_ANSWER)
        job = await app.enqueue("batch", {"models": ["m1"]})
        async with working(app):
            await in_state(app, job, "waiting")
            await the_call_is_over(app, job)
            assert (await ended(app, job)).state is State.SUCCEEDED
        assert len(provider.ledger.paid) == 2


async def _waits_for(app, job, reason):
    return (await app.get(job.id)).reason == reason


async def test_a_429_blocks_the_providers_budget_and_uses_up_no_attempt(opened, provider):
    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.RATE_LIMITED)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        row = await ended(app, job)
    assert (row.state, row.failures) == (State.SUCCEEDED, 0)
    assert len(provider.ledger.paid) == 1


async def test_three_errors_in_a_row_fail_it_and_a_good_answer_forgives_two(opened):
    provider = ScriptedProvider(looks=4)
    app = await with_provider(opened, provider)
    job = await app.enqueue("batch", {"models": ["m1"]})
    provider.simulator.arm(Fault.UNAVAILABLE, 2)
    async with working(app):
        assert (await app.result(job.id, timeout=20))[0][1] == "completed"
        provider.simulator.arm(Fault.UNAVAILABLE, 3)
        second = await app.enqueue("batch", {"models": ["m1"]})
        assert (await app.result(second.id, timeout=20))[0] == ["m1", "failed", "ERROR", "503"]
    assert [row.transient_failures for row in (await app.provider_jobs.of([job.id]))[job.id]] == [0]


async def test_a_job_that_vanished_is_lost_after_three_looks(opened, provider):
    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.VANISHES)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        [line] = await app.result(job.id, timeout=20)
    assert line[:3] == ["m1", "failed", "LOST"]
    assert "provider_lost" in line[3]


@pytest.mark.parametrize("fault", [Fault.BACKWARDS, Fault.UNKNOWN_STATUS])
async def test_a_strange_status_is_no_end(opened, provider, fault):
    app = await with_provider(opened, provider)
    provider.simulator.arm(fault)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        assert (await app.result(job.id, timeout=20))[0][1] == "completed"


async def test_when_its_time_is_up_only_what_is_unfinished_fails(opened, provider):
    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.NEVER_ENDS)
    job = await app.enqueue("batch", {"models": ["m1", "m2"]})
    async with working(app):
        await eventually(lambda: _one_ended(app, job))
        hands = Hands(app.services.store)
        past = "0" if hands.store.dialect == "sqlite" else "'epoch'"
        await hands.sql(
            f"UPDATE {hands.table('provider_job')} SET deadline = {past} WHERE state = 'submitted' RETURNING 1 AS done"
        )
        lines = await app.result(job.id, timeout=20)
    assert sorted(line[1] for line in lines) == ["completed", "failed"]
    [late] = [line for line in lines if line[1] == "failed"]
    assert "within 26 hours" in late[3]


async def _one_ended(app, job):
    rows = (await app.provider_jobs.of([job.id]))[job.id]
    return sum(row.state.ended for row in rows) == 1


async def test_cancelling_reaches_the_provider(opened, provider):
    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.NEVER_ENDS)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        await in_state(app, job, "waiting")
        await app.cancel(job.id)
        await eventually(lambda: "cancel" in provider.calls)
        rows = await eventually(lambda: _all_ended(app, job))
    assert [row.state for row in rows] == [ProviderState.CANCELLED]
    assert len(provider.cleaned) == 1


async def _all_ended(app, job):
    rows = (await app.provider_jobs.of([job.id]))[job.id]
    return rows if all(row.state.ended for row in rows) else None


async def test_what_a_deleted_job_left_at_a_provider_is_stopped_too(opened, provider):
    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.NEVER_ENDS)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        await in_state(app, job, "waiting")
        await app.remove([job.id])
        await eventually(lambda: "cancel" in provider.calls)
        hands = Hands(app.services.store)

        async def none_left():
            return not await hands.sql(f"SELECT 1 AS one FROM {hands.table('provider_job')}")

        await eventually(none_left)


async def test_a_callback_has_the_job_polled_at_once(opened, provider):
    app = await opened(provider_call_seconds=1.0, poll_interval_seconds=3600.0)
    app.provider("SCRIPTED", lambda: provider)

    @app.operation("batch")
    async def batch(ctx, payload):
        [row] = await ctx.submit("SCRIPTED", [order()])
        return row.state.value

    job = await app.enqueue("batch", {})
    async with working(app):
        await in_state(app, job, "waiting")
        hands = Hands(app.services.store)
        later = "next_poll_at + 3600" if hands.store.dialect == "sqlite" else "next_poll_at + interval '1 hour'"
        external_id = provider.ledger.paid[0].external_id
        provider.simulator.jobs[external_id].looks = 5

        async def put_off():
            await hands.sql(f"UPDATE {hands.table('provider_job')} SET next_poll_at = {later} RETURNING 1 AS done")
            return True

        await put_off()
        assert not await app.provider_jobs.called_back("SCRIPTED", {"signature": "bad"}, external_id.encode())
        if (await app.get(job.id)).live:
            assert await app.provider_jobs.called_back("SCRIPTED", {"signature": "good"}, external_id.encode())
        assert await app.result(job.id, timeout=20) == "completed"


async def test_three_reconcilers_poll_each_job_once_per_turn(opened):
    provider = ScriptedProvider(looks=3)
    apps = [await with_provider(opened, provider) for _ in range(3)]
    jobs = [await apps[0].enqueue("batch", {"models": ["m1"]}) for _ in range(10)]
    async with working(apps[0]), working(apps[1]), working(apps[2]):
        for job in jobs:
            assert (await apps[0].result(job.id, timeout=30))[0][1] == "completed"
    assert len(provider.ledger.paid) == 10
    rows = await asyncio.gather(*(apps[0].provider_jobs.of([job.id]) for job in jobs))
    polls = sum(row.polls for one in rows for found in one.values() for row in found)
    assert provider.polls == polls == 30


async def test_a_requeue_with_another_payload_orders_anew_and_forgets_the_old_orders(opened, provider):
    app = await with_provider(opened, provider)
    provider.refuses.add("bad")

    @app.operation("strict", retry=AT_ONCE)
    async def strict(ctx, payload):
        rows = await ctx.submit("SCRIPTED", [order(model) for model in payload["models"]])
        if any(row.state is ProviderState.FAILED for row in rows):
            raise ValueError("one failed")
        return [row.model for row in rows]

    job = await app.enqueue("strict", {"models": ["m1", "bad"]})
    async with working(app):
        assert (await ended(app, job)).state is State.FAILED
        await app.requeue(job.id, payload={"models": ["m1", "m2"]})
        assert await app.result(job.id, timeout=20) == ["m1", "m2"]
    assert [row.model for row in (await app.provider_jobs.of([job.id]))[job.id]] == ["m1", "m2"]


async def test_a_job_that_nobody_would_wake_is_woken(opened, provider):
    from towpath.engine.tending.reconciler import wake_forsaken

    app = await with_provider(opened, provider)
    provider.simulator.arm(Fault.NEVER_ENDS)
    job = await app.enqueue("batch", {"models": ["m1"]})
    async with working(app):
        await in_state(app, job, "waiting")
        hands = Hands(app.services.store)
        await hands.sql(f"DELETE FROM {hands.table('provider_job')} RETURNING 1 AS done")
        assert await wake_forsaken(app.services) == 1
        row = await ended(app, job)
    assert "no longer on record" in row.error["message"]


async def test_the_results_of_what_has_ended_are_streamed_and_what_it_left_there_is_removed(opened, provider):
    app = await opened(**QUICK)
    app.provider("SCRIPTED", lambda: provider)

    @app.operation("fetching", retry=AT_ONCE)
    async def fetching(ctx, payload):
        rows = await ctx.submit("SCRIPTED", [order(), order("bad")])
        found = [[result.ref async for result in ctx.results_of(row)] for row in rows]
        for row in rows:
            await ctx.clean_up(row)
        return found

    provider.refuses.add("bad")
    job = await app.enqueue("fetching", {})
    async with working(app):
        assert await app.result(job.id, timeout=20) == [["r0", "r1"], []]
    assert len(provider.cleaned) == 2
    assert app.providers.names == ["SCRIPTED"]
    assert app.providers.get("SCRIPTED").limits.count == 100


async def test_which_part_of_a_whole_an_order_is_is_told_of_its_row_and_not_to_its_provider(opened, provider):
    app = await opened(**QUICK)
    app.provider("SCRIPTED", lambda: provider)

    @app.operation("sharded")
    async def sharded(ctx, payload):
        options = {"shard": 3, "window": "24h"}
        [row] = await ctx.submit("SCRIPTED", [Order("", "completion", "m1", count=1, options=options)])
        return row.shard

    job = await app.enqueue("sharded", {})
    async with working(app):
        assert await app.result(job.id, timeout=20) == 3
    [kept] = provider.simulator.jobs.values()
    assert kept.request.options == {"window": "24h"}
