"""Leaving `async with app:` while a worker of this process is busy."""

import asyncio
from contextlib import suppress

from tests.engine.working import Gate, in_state
from towpath import Context, State


async def test_closing_the_app_lets_its_worker_finish_what_runs(new_app):
    app, gate = new_app(drain_seconds=20), Gate()

    @app.operation("slow")
    async def slow(ctx: Context):
        await gate.wait()
        return "done"

    async with app:
        job = await app.enqueue("slow")
        worker = asyncio.create_task(app.run_worker())
        await gate.until_reached()
        asyncio.get_running_loop().call_soon(gate.open)
    await asyncio.wait_for(worker, 20)
    async with app:
        assert (await app.get(job.id)).state is State.SUCCEEDED


async def test_closing_the_app_hands_back_what_does_not_end(new_app):
    app = new_app(drain_seconds=0)

    @app.operation("endless")
    async def endless(ctx: Context):
        await asyncio.Event().wait()

    async with app:
        job = await app.enqueue("endless")
        worker = asyncio.create_task(app.run_worker())
        await in_state(app, job, "running")
        worker.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait_for(worker, 20)
    async with app:
        row = await app.get(job.id)
        assert (row.state, row.leased, row.failures) == (State.QUEUED, False, 0)
