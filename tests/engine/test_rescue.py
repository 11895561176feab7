"""A worker that falls silent loses its jobs to the others, and nothing else is lost."""

import asyncio
import threading
import time
from contextlib import suppress

from tests.engine.crashing import register
from tests.engine.working import Gate, ended, eventually, happened, in_state, on_sqlite, working
from towpath import State
from towpath.engine.tending.janitor import rescue
from towpath.store.contract import Renewed


async def test_a_job_that_keeps_killing_its_worker_ends_in_the_inbox(opened, crashed_worker):
    app = await opened(lease_seconds=0.5)
    register(app, crash=False)

    @app.operation("idle", queue="idle")
    async def idle(ctx): ...

    job = await app.enqueue("deadly")
    async with working(app, "idle"):  # its janitor rescues, but it does not serve the queue
        await crashed_worker(lease_seconds=0.5)
        await eventually(lambda: happened(app, job, "job.rescued"))
        await crashed_worker(lease_seconds=0.5)
        row = await ended(app, job)
    assert (row.state, row.failures, row.leased) == (State.FAILED, 2, False)
    assert (row.error["kind"], row.error["error_class"]) == ("crashed", "WorkerLost")
    assert row.error["remedy"]
    assert [found.id for found in await app.inbox.jobs(kind="crashed")] == [job.id]
    [rescued] = await happened(app, job, "job.rescued")
    assert (rescued.level, rescued.fields) == ("warning", {"failures": 1})


class BrokenHeart:
    """A heartbeat that never gets through, as behind a broken network."""

    def beat(self, worker, leases, lease_seconds):
        return Renewed()

    def close(self):
        pass


async def test_a_worker_that_takes_a_lost_job_up_again_lets_go_of_its_old_handler(opened):
    app = await opened(lease_seconds=0.5)
    app.services.store.heart = BrokenHeart
    interrupted = asyncio.Event()

    @app.operation("work")
    async def work(ctx):
        if ctx.attempt == 1:
            try:
                await asyncio.Event().wait()
            finally:
                assert ctx.cancelled
                interrupted.set()
        return ctx.attempt

    job = await app.enqueue("work")
    async with working(app):
        assert await app.result(job.id, timeout=20) == 2
        await asyncio.wait_for(interrupted.wait(), 10)


async def test_a_worker_that_lost_its_lease_cannot_finish_the_job(opened):
    """The zombie and its successor run at the same time; only the successor's word counts."""
    silent, healthy = await opened(lease_seconds=0.5), await opened(lease_seconds=0.5)
    silent.services.store.heart = BrokenHeart
    gate = Gate()

    @silent.operation("work")
    async def work(ctx):
        with suppress(asyncio.CancelledError):  # it hears that it should stop, and does not
            await gate.wait()
        await ctx.emit("zombie.speaks")

    @healthy.operation("work")
    async def work_again(ctx):
        return "mine"

    job = await silent.enqueue("work")
    async with working(silent, concurrency=1):
        await gate.until_reached()
        async with working(healthy):
            assert await healthy.result(job.id, timeout=20) == "mine"
        gate.open()
    assert (await healthy.get(job.id)).result == "mine"
    assert await happened(healthy, job, "zombie.speaks") == []


async def test_a_blocked_event_loop_does_not_lose_the_lease(opened, new_app):
    """The rescuer lives in a thread with an event loop of its own, and is looking all the time."""
    app = await opened(lease_seconds=2)
    stop, looked = threading.Event(), []

    async def rescuer():
        async with new_app() as other:
            while not stop.is_set():
                looked.append(await rescue(other.services))
                await asyncio.sleep(0.05)

    @app.operation("block")
    async def block(ctx):
        time.sleep(3)  # noqa: ASYNC251  (blocking the loop is the point)
        return ctx.attempt

    rescuing = asyncio.create_task(asyncio.to_thread(asyncio.run, rescuer()))
    try:
        async with working(app):
            await eventually(lambda: looked)
            job = await app.enqueue("block")
            assert await app.result(job.id, timeout=20) == 1
    finally:
        stop.set()
        await rescuing
    assert len(looked) > 5
    assert sum(looked) == 0
    assert len(await happened(app, job, "job.started")) == 1


async def test_a_lost_job_whose_row_is_gone_interrupts_its_handler(opened):
    app = await opened(lease_seconds=0.5)
    gate, interrupted = Gate(), asyncio.Event()

    @app.operation("work")
    async def work(ctx):
        try:
            await gate.wait()
        finally:
            interrupted.set()

    job = await app.enqueue("work")
    async with working(app):
        await gate.until_reached()
        async with app.transaction() as tx:
            sqlite = app.services.store.dialect == "sqlite"
            sql = "DELETE FROM towpath_job WHERE id = ?" if sqlite else "DELETE FROM towpath.job WHERE id = $1"
            await tx.execute(sql, job.id)
        await asyncio.wait_for(interrupted.wait(), 20)


@on_sqlite
async def test_a_rescued_job_waits_before_it_is_tried_again(opened, crashed_worker):
    app = await opened(lease_seconds=0.3)
    register(app, crash=False)

    @app.operation("idle", queue="idle")
    async def idle(ctx): ...

    job = await app.enqueue("deadly", max_attempts=9)
    async with working(app, "idle"):
        for failures in (1, 2):
            await crashed_worker(lease_seconds=0.3)
            await eventually(lambda n=failures: _failed(app, job, n))
        row = await app.get(job.id)
    assert (row.state, row.reason) == (State.QUEUED, "retry")
    assert row.run_at is not None
    await app.cancel(job.id)
    await in_state(app, job, "cancelled")


async def _failed(app, job, times):
    return (await app.get(job.id)).failures == times
