"""Waits that free the slot: for a time, for a word from outside."""

import asyncio

import pytest

from tests.contracts.stores import Hands
from tests.engine.working import AT_ONCE, Gate, ended, eventually, happened, in_state, working
from towpath import JobNotFound, NotRequeueable, State, Transient, WaitTimeout


async def test_a_sleeping_job_holds_no_slot_and_sleeps_once(app):
    entries = []

    @app.operation("nap", retry=AT_ONCE)
    async def nap(ctx):
        entries.append(ctx.attempt)
        await ctx.sleep(60)
        if ctx.attempt == 1:
            raise Transient("after waking")
        return "rested"

    @app.operation("quick")
    async def quick(ctx):
        return "through"

    job = await app.enqueue("nap")
    async with working(app, concurrency=1):
        row = await in_state(app, job, "waiting")
        assert (row.reason, row.leased) == ("sleep", False)
        assert (row.deadline - row.started_at).total_seconds() >= 60
        assert await app.result((await app.enqueue("quick")).id, timeout=20) == "through"
        assert (await app.get(job.id)).state is State.WAITING
        await _a_minute_passes(app, job)
        assert await app.result(job.id, timeout=20) == "rested"
    assert entries == [1, 1, 2]
    assert len(await happened(app, job, "job.waiting")) == 1


async def _a_minute_passes(app, job):
    """For its deadline, and for the record of the sleep."""
    hands = Hands(app.services.store)
    earlier = "until - 60" if hands.store.dialect == "sqlite" else "until - interval '60 seconds'"
    await hands.sql(f"UPDATE {hands.table('step')} SET until = {earlier} RETURNING 1 AS done")
    await hands.shift("deadline", -60.0, job.id)


async def test_several_sleeps_need_keys(app):
    @app.operation("nap")
    async def nap(ctx):
        for n in range(2):
            await ctx.sleep(0.01, key=str(n))
        await ctx.sleep(0)
        return "rested"

    @app.operation("keyless")
    async def keyless(ctx):
        await ctx.sleep(0)
        await ctx.sleep(0)

    good, bad = await app.enqueue("nap"), await app.enqueue("keyless")
    async with working(app):
        assert await app.result(good.id, timeout=20) == "rested"
        row = await ended(app, bad)
    assert row.error["error_class"] == "StepNameReused"
    assert "key=" in row.error["message"]


async def test_a_signal_wakes_the_job_that_waits_for_it(app):
    @app.operation("approve")
    async def approve(ctx):
        return await ctx.wait_for("approved")

    job = await app.enqueue("approve")
    async with working(app, concurrency=1):
        row = await in_state(app, job, "waiting")
        assert (row.reason, row.leased) == ("signal", False)
        await app.signal(job.id, "other")
        await app.signal(job.id, "approved", {"by": "Ada\x00"})
        assert await app.result(job.id, timeout=20) == {"by": "Ada\x00"}
    signalled = await happened(app, job, "job.signalled")
    assert [event.fields["signal"] for event in signalled] == ["other", "approved"]


async def test_a_signal_sent_before_the_wait_is_not_lost(app):
    @app.operation("approve")
    async def approve(ctx):
        return await ctx.wait_for("approved")

    job = await app.enqueue("approve")
    await app.signal(job.id, "approved", 1)
    async with working(app):
        assert await app.result(job.id, timeout=20) == 1
    assert await happened(app, job, "job.waiting") == []


async def test_a_signal_that_comes_while_the_job_runs_is_not_lost(app):
    gate = Gate()

    @app.operation("approve")
    async def approve(ctx):
        await gate.wait()
        return await ctx.wait_for("approved")

    job = await app.enqueue("approve")
    async with working(app):
        await gate.until_reached()
        await app.signal(job.id, "approved", "meanwhile")
        gate.open()
        assert await app.result(job.id, timeout=20) == "meanwhile"


async def test_each_signal_is_consumed_once_in_the_order_sent(app):
    @app.operation("collect", retry=AT_ONCE)
    async def collect(ctx):
        found = [await ctx.wait_for("item", key=str(n)) for n in range(3)]
        if ctx.attempt == 1:
            raise Transient("once more")
        return found

    job = await app.enqueue("collect")
    await app.signal(job.id, "item", "a")
    async with working(app):
        await in_state(app, job, "waiting")
        await app.signal(job.id, "item", "b")
        await app.signal(job.id, "item", "c")
        assert await app.result(job.id, timeout=20) == ["a", "b", "c"]


async def test_a_wait_that_times_out_says_so_and_stays_timed_out(app):
    @app.operation("patient", retry=AT_ONCE)
    async def patient(ctx):
        try:
            await ctx.wait_for("never", timeout=0.1)
        except WaitTimeout as error:
            if ctx.attempt == 1:
                raise Transient("look again") from error
            return str(error)

    job = await app.enqueue("patient")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "no signal 'never' came within 0.1 seconds"
    # None at all where the machine is so busy that the time is up before the slot could be given away.
    assert len(await happened(app, job, "job.waiting")) <= 1, "the second attempt waits no more: it is on record"


async def test_a_timeout_nobody_handles_fails_the_job(app):
    @app.operation("patient", retry=AT_ONCE)
    async def patient(ctx):
        await ctx.wait_for("never", timeout=0.05)

    job = await app.enqueue("patient")
    async with working(app):
        row = await ended(app, job)
    assert (row.state, row.error["error_class"]) == (State.FAILED, "WaitTimeout")
    assert row.failures == 1, "another attempt would only read on record that nothing came"


async def test_a_requeue_after_a_timeout_waits_anew(app):
    @app.operation("patient", retry=AT_ONCE)
    async def patient(ctx, payload: dict):
        return await ctx.wait_for("news", timeout=payload["patience"])

    job = await app.enqueue("patient", {"patience": 0.05})
    async with working(app):
        assert (await ended(app, job)).state is State.FAILED
        await app.requeue(job.id, payload={"patience": 60}, keep_steps=True)
        await in_state(app, job, "waiting")
        await app.signal(job.id, "news", "it came")
        assert await app.result(job.id, timeout=20) == "it came"


async def test_a_signal_to_nobody_is_refused(app):
    @app.operation("quick")
    async def quick(ctx): ...

    job = await app.enqueue("quick")
    async with working(app):
        await ended(app, job)
    with pytest.raises(NotRequeueable, match="succeeded"):
        await app.signal(job.id, "late")
    with pytest.raises(JobNotFound):
        await app.signal("00000000-0000-7000-8000-000000000000", "lost")


async def test_a_suspension_that_is_swallowed_wins_all_the_same(app):
    entries = []

    @app.operation("greedy")
    async def greedy(ctx):
        entries.append(ctx.fence)
        try:
            await ctx.sleep(0.1)
        except BaseException:
            with pytest.raises(BaseException, match="sleep"):
                await ctx.step("after", lambda: entries.append("step"))
            return "swallowed"
        return "slept"

    job = await app.enqueue("greedy")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "slept"
    assert entries == [1, 2]


async def test_except_exception_does_not_catch_a_suspension(app):
    @app.operation("careful")
    async def careful(ctx):
        try:
            await ctx.sleep(0.05)
        except Exception as error:
            return f"caught {error!r}"
        return "slept"

    job = await app.enqueue("careful")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "slept"


async def test_many_waiting_jobs_are_woken_one_by_one(app):
    @app.operation("approve")
    async def approve(ctx):
        return await ctx.wait_for("go")

    jobs = [await app.enqueue("approve") for _ in range(10)]
    async with working(app, concurrency=2):
        for job in jobs:
            await in_state(app, job, "waiting")
        await asyncio.gather(*(app.signal(job.id, "go", n) for n, job in enumerate(jobs)))
        assert [await app.result(job.id, timeout=20) for job in jobs] == list(range(10))


async def test_a_wait_for_children_past_its_deadline_fails_with_what_it_waited_for(app):
    @app.operation("child", queue="unserved")
    async def child(ctx, n): ...

    @app.operation("parent", queue="served", max_wait=0.1)
    async def parent(ctx):
        await ctx.gather("child", [1])

    job = await app.enqueue("parent")
    async with working(app, "served"):
        row = await ended(app, job)
    assert (row.error["kind"], row.error["error_class"]) == ("wait_expired", "WaitExpired")
    assert "children" in row.error["message"]
    [kid] = await eventually(lambda: app.list(parent=job.id))
    assert kid.state is State.CANCELLED
