"""Cancelling: at once, wherever the job is, children included, and for good."""

import asyncio
import threading

import pytest

from tests.engine.working import Gate, ended, eventually, happened, in_state, working
from towpath import JobCancelled, JobNotFound, State
from towpath.core import failpoints


async def test_a_queued_job_is_cancelled_and_never_runs(app):
    ran = []

    @app.operation("work")
    async def work(ctx, payload):
        ran.append(payload)

    job, other = await app.enqueue("work", "cancelled"), await app.enqueue("work", "kept")
    scheduled = await app.enqueue("work", "later", delay=3600)
    assert await app.cancel(job.id, "not needed") is True
    assert await app.cancel(scheduled.id) is True
    async with working(app):
        await ended(app, other)
        with pytest.raises(JobCancelled):
            await app.result(job.id, timeout=10)
    assert ran == ["kept"]
    [event] = await happened(app, job, "job.cancelled")
    assert event.message == "not needed"
    assert (await app.get(scheduled.id)).state is State.CANCELLED


async def test_a_running_coroutine_is_interrupted(app):
    gate, seen = Gate(), []

    @app.operation("work")
    async def work(ctx):
        try:
            await gate.wait()
        except asyncio.CancelledError:
            seen.append(ctx.cancelled)
            raise

    job = await app.enqueue("work")
    async with working(app):
        await gate.until_reached()
        assert await app.cancel(job.id)
        assert (await app.get(job.id)).state is State.CANCELLED  # at once, not when the handler has ended
        await eventually(lambda: _let_go(app, job))
    assert seen == [True]
    assert (await app.get(job.id)).state is State.CANCELLED


async def _let_go(app, job):
    return not (await app.get(job.id)).leased


@pytest.mark.parametrize("ending", ["value", "error", "retry", "write"])
async def test_what_a_cancelled_handler_does_at_its_end_does_not_count(app, ending):
    gate = Gate()

    @app.operation("work")
    async def work(ctx):
        try:
            await gate.wait()
        except asyncio.CancelledError:
            if ending == "error":
                raise RuntimeError("too late") from None
            if ending == "write":
                await ctx.emit("too.late")
        return "too late"

    job = await app.enqueue("work")
    async with working(app):
        await gate.until_reached()
        await app.cancel(job.id)
        await eventually(lambda: _let_go(app, job))
    row = await app.get(job.id)
    assert (row.state, row.result, row.error, row.failures) == (State.CANCELLED, None, None, 0)
    assert [event.name async for event in app.events(job_id=job.id)] == ["job.created", "job.started", "job.cancelled"]


async def test_a_function_in_a_thread_sees_the_cancel_and_keeps_its_slot_until_it_returns(app):
    begun, seen, leave = threading.Event(), threading.Event(), threading.Event()

    @app.operation("thread")
    def in_thread(ctx):
        begun.set()
        while not ctx.cancelled:
            leave.wait(0.01)
        seen.set()
        leave.wait(20)

    @app.operation("next")
    async def following(ctx):
        return "my turn"

    job = await app.enqueue("thread")
    try:
        async with working(app, concurrency=1):
            await eventually(begun.is_set)
            await app.cancel(job.id)
            await eventually(seen.is_set)
            second = await app.enqueue("next")
            row = await app.get(job.id)
            assert (row.state, row.leased) == (State.CANCELLED, True)
            assert (await app.explain(job.id)).reason == "ending"
            assert (await app.get(second.id)).state is State.QUEUED
            leave.set()
            assert await app.result(second.id, timeout=20) == "my turn"
            await eventually(lambda: _let_go(app, job))
    finally:
        leave.set()
    assert (await app.get(job.id)).state is State.CANCELLED


async def test_a_plain_step_keeps_the_slot_until_it_returns_too(app):
    begun, leave = threading.Event(), threading.Event()

    def blocking():
        begun.set()
        leave.wait(20)

    @app.operation("work")
    async def work(ctx):
        await ctx.step("blocking", blocking)

    job = await app.enqueue("work")
    try:
        async with working(app, concurrency=1):
            await eventually(begun.is_set)
            await app.cancel(job.id)
            row = await app.requeue(job.id)
            assert row.reason == "ending"
            begun.clear()
            await _several_looks_of_the_worker(app)
            assert not begun.is_set()
            leave.set()
            assert (await ended(app, job)).state is State.SUCCEEDED
    finally:
        leave.set()


async def _several_looks_of_the_worker(app):
    """Another queue's job is served meanwhile, so the worker of this one has had every chance to act."""

    @app.operation("elsewhere", queue="elsewhere")
    async def elsewhere(ctx): ...

    async with working(app, "elsewhere"):
        for _ in range(5):
            await ended(app, await app.enqueue("elsewhere"))


@pytest.mark.parametrize("wait", ["sleep", "signal", "children"])
async def test_a_waiting_job_is_cancelled(app, wait):
    @app.operation("child", queue="unserved")
    async def child(ctx, n): ...

    @app.operation("work", queue="served")
    async def work(ctx):
        if wait == "sleep":
            await ctx.sleep(3600)
        elif wait == "signal":
            await ctx.wait_for("go")
        await ctx.gather("child", [1, 2])

    job = await app.enqueue("work")
    async with working(app, "served"):
        await in_state(app, job, "waiting")
        assert await app.cancel(job.id)
    row = await app.get(job.id)
    assert (row.state, row.leased, row.children_open) == (State.CANCELLED, False, 0)
    assert {kid.state for kid in await app.list(parent=job.id)} <= {State.CANCELLED}


async def test_a_cancel_reaches_children_and_grandchildren_running_or_not(app):
    gate = Gate()
    interrupted = []

    @app.operation("leaf")
    async def leaf(ctx, n):
        try:
            await gate.wait()
        finally:
            interrupted.append(n)

    @app.operation("branch")
    async def branch(ctx, n):
        await ctx.gather("leaf", [n, n + 1])

    @app.operation("root")
    async def root(ctx):
        await ctx.gather("branch", [10, 20])

    job = await app.enqueue("root")
    async with working(app, concurrency=3):
        await eventually(lambda: _count(app, 7))
        await gate.until_reached()
        await app.cancel(job.id)
        await eventually(lambda: _nothing_leased(app))
    assert {row.state for row in await app.list()} == {State.CANCELLED}
    assert len(interrupted) == len([row for row in await app.list(operation="leaf") if row.attempt])
    row = await app.get(job.id)
    assert (row.children_bad, row.children_open) == (2, 0)


async def _count(app, number):
    return len(await app.list()) == number


async def _nothing_leased(app):
    return not any(row.leased for row in await app.list())


async def test_cancelling_an_ended_job_changes_nothing(app):
    @app.operation("work")
    async def work(ctx):
        return "done"

    job = await app.enqueue("work")
    async with working(app):
        await ended(app, job)
    assert await app.cancel(job.id) is False
    assert (await app.get(job.id)).state is State.SUCCEEDED
    twice = await app.enqueue("work")
    assert [await app.cancel(twice.id), await app.cancel(twice.id)] == [True, False]
    assert len(await happened(app, twice, "job.cancelled")) == 1
    with pytest.raises(JobNotFound):
        await app.cancel("00000000-0000-7000-8000-000000000000")
    with pytest.raises(JobNotFound, match="is not a job id"):
        await app.cancel("nonsense")


async def test_a_cancel_from_another_process_reaches_the_handler(app, opened):
    other = await opened()
    gate = Gate()

    @app.operation("work")
    async def work(ctx):
        await gate.wait()

    job = await app.enqueue("work")
    async with working(app):
        await gate.until_reached()
        await other.cancel(job.id)
        await eventually(lambda: _let_go(app, job))


async def test_a_cancel_between_the_claim_and_the_handlers_first_step_frees_the_slot(app):
    """The heartbeat may bring the news of a cancel before the handler has had its first turn in the event loop."""
    ran = []

    @app.operation("work")
    async def work(ctx, payload):
        ran.append(payload)

    first = await app.enqueue("work", "first")
    worker = app.worker(concurrency=1)

    async def cancel_it(name):
        if name == "worker.claimed" and (await app.get(first.id)).state is State.RUNNING:
            await app.cancel(first.id)
            asyncio.get_running_loop().call_soon(worker._watch.lost, first.id, 1, "cancelled")

    failpoints.install(lambda name: cancel_it(name) if name.startswith("worker.") else None)
    try:
        running = asyncio.create_task(worker.run())
        await in_state(app, first, "cancelled")
        assert (await ended(app, await app.enqueue("work", "second"))).state is State.SUCCEEDED
    finally:
        failpoints.install(None)
        worker.stop()
        await asyncio.wait_for(running, 20)
    assert ran == ["second"]
    assert not (await app.get(first.id)).leased
