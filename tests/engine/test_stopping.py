"""A worker that is told to stop: short jobs finish, long ones go back, nobody loses an attempt."""

import asyncio
import threading

import pytest

from tests.engine.working import Gate, ended, eventually, happened, in_state, working
from towpath import State


async def test_a_short_job_is_finished_before_the_worker_stops(opened):
    app = await opened(drain_seconds=20)
    gate = Gate()

    @app.operation("short")
    async def short(ctx):
        await gate.wait()
        return "finished"

    running, queued = await app.enqueue("short"), await app.enqueue("short")
    async with working(app, concurrency=1):
        await gate.until_reached()
        asyncio.get_running_loop().call_later(0.1, gate.open)
    assert (await app.get(running.id)).result == "finished"
    assert (await app.get(queued.id)).state is State.QUEUED


async def test_a_worker_stops_when_its_event_is_set_and_lets_jobs_finish(opened):
    app = await opened(drain_seconds=20)
    gate, stop = Gate(), asyncio.Event()

    @app.operation("short")
    async def short(ctx):
        await gate.wait()
        return "finished"

    running, queued = await app.enqueue("short"), await app.enqueue("short")
    worker = asyncio.create_task(app.run_worker(concurrency=1, stop=stop))
    await gate.until_reached()
    stop.set()
    asyncio.get_running_loop().call_later(0.1, gate.open)
    async with asyncio.timeout(30):
        assert await worker is None
    assert (await app.get(running.id)).result == "finished"
    assert (await app.get(queued.id)).state is State.QUEUED


async def test_a_worker_whose_event_is_set_hands_back_what_takes_too_long(app):
    begun, stop = asyncio.Event(), asyncio.Event()

    @app.operation("long", max_attempts=1)
    async def long(ctx):
        begun.set()
        await asyncio.Event().wait()

    job = await app.enqueue("long")
    worker = asyncio.create_task(app.run_worker(stop=stop))
    async with asyncio.timeout(30):
        await begun.wait()
        stop.set()
        await worker
    row = await app.get(job.id)
    assert (row.state, row.leased, row.failures) == (State.QUEUED, False, 0)


async def test_a_worker_whose_event_is_set_already_does_nothing(app):
    stop = asyncio.Event()
    stop.set()
    async with asyncio.timeout(30):
        await app.run_worker(["q"], stop=stop)
    [row] = await app.workers()
    assert row.stopped_at is not None


async def test_a_long_job_is_handed_back_without_using_an_attempt(app):
    entries = []

    @app.operation("long", max_attempts=1)
    async def long(ctx):
        entries.append(ctx.attempt)
        await ctx.progress(1, 5)
        if len(entries) < 3:
            await asyncio.sleep(600)
        return "finished at last"

    job = await app.enqueue("long")
    for entry in (1, 2):
        async with working(app):
            await eventually(lambda n=entry: len(entries) == n)
            await in_state(app, job, "running")
        row = await app.get(job.id)
        assert (row.state, row.leased, row.failures, row.worker_id) == (State.QUEUED, False, 0, None)
    async with working(app):
        assert await app.result(job.id, timeout=10) == "finished at last"
    assert entries == [1, 1, 1]
    assert [event.fields for event in await happened(app, job, "job.released")] == [{"reason": "shutdown"}] * 2


@pytest.mark.parametrize("ending", ["raises", "returns"])
async def test_a_function_in_a_thread_that_stops_when_asked_is_run_again(app, ending):
    """It looked, saw that it should stop, and did: what it returned then is not its result."""
    entries, begun = [], threading.Event()

    @app.operation("thread", max_attempts=1)
    def in_thread(ctx):
        entries.append(ctx.attempt)
        if len(entries) == 1:
            begun.set()
            while not ctx.cancelled:
                threading.Event().wait(0.01)
            if ending == "raises":
                raise RuntimeError("stopped")
            return "half"
        return "whole"

    job = await app.enqueue("thread")
    async with working(app):
        await eventually(begun.is_set)
    row = await app.get(job.id)
    assert (row.state, row.failures, row.leased) == (State.QUEUED, 0, False)
    async with working(app):
        assert await app.result(job.id, timeout=10) == "whole"


async def test_a_function_in_a_thread_that_never_looks_may_finish(app):
    begun, leave = threading.Event(), threading.Event()

    @app.operation("thread")
    def in_thread(ctx):
        begun.set()
        leave.wait(20)
        return "finished"

    job = await app.enqueue("thread")
    async with working(app):
        await eventually(begun.is_set)
        threading.Timer(0.5, leave.set).start()  # after the worker has asked it to stop
    assert (await app.get(job.id)).result == "finished"


async def test_an_error_while_being_stopped_uses_no_attempt(app):
    gate = Gate()

    @app.operation("fragile", max_attempts=1)
    async def fragile(ctx):
        try:
            await gate.wait()
        except asyncio.CancelledError:
            raise ConnectionError("the client library turned the interruption into this") from None

    job = await app.enqueue("fragile")
    async with working(app):
        await gate.until_reached()
    row = await app.get(job.id)
    assert (row.state, row.failures) == (State.QUEUED, 0)


async def test_a_stopped_worker_says_so_and_takes_nothing_more(app):
    @app.operation("work")
    async def work(ctx): ...

    async with working(app, name="the one"):
        [row] = await eventually(app.workers)
        assert (row.name, row.queues, row.operations, row.concurrency) == ("the one", ["default"], ["work"], 4)
        assert row.stopped_at is None
        await ended(app, await app.enqueue("work"))
    [row] = await app.workers()
    assert row.stopped_at is not None
    assert row.running == 0
    left = await app.enqueue("work")
    assert (await app.get(left.id)).state is State.QUEUED


async def test_the_worker_row_shows_how_many_jobs_run(opened):
    app = await opened(lease_seconds=0.6)  # the row is renewed with the leases
    gate = Gate()

    @app.operation("work")
    async def work(ctx):
        await gate.wait()

    for _ in range(3):
        await app.enqueue("work")
    async with working(app):
        await eventually(lambda: _running(app, 3))
        gate.open()
        await eventually(lambda: _running(app, 0))


async def _running(app, number):
    rows = await app.workers()
    return [row.running for row in rows] == [number]
