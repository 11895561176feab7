"""A worker settles what has ended along with its next claim, and loses neither when that goes wrong."""

from tests.engine.working import ended, working
from towpath import State
from towpath.core.errors import StoreUnavailable


async def test_a_lone_slot_settles_with_the_next_claim(app, monkeypatch):
    turns = []
    real = app.services.store.turn

    async def seen(transitions, *rest):
        turns.append([transition.job_id for transition in transitions])
        return await real(transitions, *rest)

    monkeypatch.setattr(app.services.store, "turn", seen)

    @app.operation("work")
    async def work(ctx):
        return None

    jobs = await app.enqueue_many([{"operation": "work"}] * 5)
    async with working(app, concurrency=1):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert [job.id for job in jobs[:4]] == [job_id for turn in turns for job_id in turn][:4]


async def test_a_turn_that_fails_leaves_the_settles_to_the_scribe(app, monkeypatch):
    async def refused(*_):
        raise StoreUnavailable("not now")

    monkeypatch.setattr(app.services.store, "turn", refused)

    @app.operation("work")
    async def work(ctx):
        return None

    jobs = await app.enqueue_many([{"operation": "work"}] * 3)
    async with working(app, concurrency=1):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED


async def test_what_a_job_said_last_comes_before_its_end(app):
    @app.operation("work")
    async def work(ctx):
        await ctx.progress(1, 2)
        await ctx.progress(2, 2)

    jobs = await app.enqueue_many([{"operation": "work"}] * 5)
    async with working(app, concurrency=1):
        for job in jobs:
            assert (await ended(app, job)).progress_current == 2
            names = [event.name async for event in app.events(job_id=job.id)]
            assert names[-2:] == ["job.progress", "job.succeeded"]
