"""Every entry of an operation has a finite time."""

import asyncio
import threading

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, happened, working
from towpath import ConfigurationError, State


async def test_a_coroutine_past_its_timeout_is_interrupted_and_retried(app):
    tries = []

    @app.operation("slow", timeout=0.2, retry=AT_ONCE)
    async def slow(ctx):
        tries.append(ctx.attempt)
        if ctx.attempt < 3:
            await asyncio.sleep(60)
        return "in time"

    job = await app.enqueue("slow")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "in time"
    assert tries == [1, 2, 3]
    retries = await happened(app, job, "job.retry_scheduled")
    assert [event.fields["kind"] for event in retries] == ["timeout", "timeout"]


async def test_a_timeout_at_the_cap_is_a_failure_of_its_own_kind(app):
    @app.operation("slow", timeout=0.2, max_attempts=1)
    async def slow(ctx):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "swallowed, and too late all the same"

    job = await app.enqueue("slow")
    async with working(app):
        row = await ended(app, job)
    assert row.state is State.FAILED
    assert row.error == {
        "kind": "timeout",
        "error_class": "OperationTimeout",
        "message": "it ran longer than its timeout of 0.2 s",
        "remedy": "raise timeout= of the operation, or split the work into steps or child jobs",
    }
    assert [found.id for found in await app.inbox.jobs(kind="timeout")] == [job.id]


async def test_a_function_in_a_thread_past_its_timeout_is_told_and_then_retried(app):
    stop, told = threading.Event(), []

    @app.operation("slow", timeout=0.2, retry=AT_ONCE)
    def slow(ctx):
        if ctx.attempt == 1:
            while not ctx.cancelled:
                stop.wait(0.01)
            told.append(ctx.attempt)
        return ctx.attempt

    job = await app.enqueue("slow")
    async with working(app):
        assert await app.result(job.id, timeout=20) == 2
    assert told == [1]


async def test_time_spent_waiting_does_not_count(app):
    @app.operation("patient", timeout=0.5)
    async def patient(ctx):
        await ctx.sleep(0.8)
        return "rested"

    job = await app.enqueue("patient")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "rested"


async def test_an_operations_own_timeout_error_is_an_ordinary_transient_one(app):
    @app.operation("hasty", max_attempts=1)
    async def hasty(ctx):
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)

    job = await app.enqueue("hasty")
    async with working(app):
        row = await ended(app, job)
    assert (row.error["kind"], row.error["error_class"]) == ("transient", "TimeoutError")


async def test_something_cancelled_inside_the_operation_is_that_jobs_failure(app):
    """Not an interruption: handed back without using an attempt, it would spin for ever."""
    entries = []

    @app.operation("confused", retry=AT_ONCE)
    async def confused(ctx):
        entries.append(ctx.attempt)
        inner = asyncio.create_task(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(inner.cancel)
        await inner

    job = await app.enqueue("confused")
    async with working(app):
        row = await ended(app, job)
    assert entries == [1, 2, 3]
    assert (row.state, row.error["error_class"]) == (State.FAILED, "CancelledError")


@pytest.mark.parametrize("how", ["coroutine", "thread"])
async def test_an_operation_that_exits_fails_alone(app, how):
    if how == "thread":

        @app.operation("exits", max_attempts=1)
        def exits(ctx):
            raise SystemExit(3)
    else:

        @app.operation("exits", max_attempts=1)
        async def exits_too(ctx):
            raise SystemExit(3)

    @app.operation("fine")
    async def fine(ctx):
        return "still here"

    job = await app.enqueue("exits")
    async with working(app):
        row = await ended(app, job)
        assert (row.state, row.error["error_class"]) == (State.FAILED, "SystemExit")
        assert await app.result((await app.enqueue("fine")).id, timeout=10) == "still here"


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_must_be_finite_and_positive(new_app, timeout):
    with pytest.raises(ConfigurationError, match="timeout"):
        new_app().operation("never", timeout=timeout)


async def test_the_slot_of_a_timed_out_job_is_free_for_the_next(app):
    @app.operation("slow", timeout=0.2, max_attempts=1)
    async def slow(ctx):
        await asyncio.sleep(60)

    @app.operation("quick")
    async def quick(ctx):
        return "through"

    jobs = [await app.enqueue("slow") for _ in range(2)]
    async with working(app, concurrency=2):
        await eventually(lambda: happened(app, jobs[1], "job.started"))
        assert await app.result((await app.enqueue("quick")).id, timeout=20) == "through"
