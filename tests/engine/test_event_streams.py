"""Events as they happen: of one job until it has ended, of all jobs for as long as somebody listens."""

import asyncio

import pytest

from tests.engine.working import Gate, ended, working
from towpath import Fatal, JobNotFound
from towpath.store.listeners import Pulse


@pytest.fixture
def app(app):
    @app.operation("work")
    async def work(ctx, n):
        await ctx.emit("one", fields={"n": n})
        await ctx.emit("two")
        if n == "fail":
            raise Fatal("no")
        return n

    return app


async def test_the_events_of_one_job_are_followed_until_it_has_ended(app):
    gate = Gate()

    @app.operation("held")
    async def held(ctx):
        await ctx.emit("before")
        await gate.wait()
        await ctx.emit("after")

    job = await app.enqueue("held")
    seen = []
    async with working(app):
        async with asyncio.timeout(20):
            async for event in app.events(job_id=job.id, follow=True):
                seen.append((event.seq, event.name))
                if event.name == "before":
                    gate.open()
    names = ["job.created", "job.started", "before", "after", "job.succeeded"]
    assert seen == list(enumerate(names, 1))


async def test_reading_goes_on_after_a_given_event(app):
    job = await app.enqueue("work", 1)
    async with working(app):
        await ended(app, job)
    everything = [event async for event in app.events(job_id=job.id)]
    assert [event.name for event in everything] == ["job.created", "job.started", "one", "two", "job.succeeded"]
    rest = [event async for event in app.events(job_id=job.id, after=everything[2].seq)]
    assert rest == everything[3:]
    assert [event async for event in app.events(job_id=job.id, after=everything[-1].seq, follow=True)] == []


async def test_a_job_with_more_events_than_a_page_is_read_to_its_end(app):
    @app.operation("chatty")
    async def chatty(ctx):
        await asyncio.gather(*(ctx.emit("word", fields={"n": n}) for n in range(1200)))

    job = await app.enqueue("chatty")
    async with working(app):
        await ended(app, job)
    events = [event async for event in app.events(job_id=job.id, follow=True)]
    assert [event.seq for event in events] == list(range(1, 1204))
    assert [event.fields["n"] for event in events if event.name == "word"] == list(range(1200))


async def test_the_events_of_a_missing_job_are_refused(app):
    with pytest.raises(JobNotFound):
        async for _ in app.events(job_id="00000000-0000-7000-8000-000000000000"):
            pass


async def test_the_events_of_all_jobs_are_followed_without_loss_or_repetition(app, opened):
    other = await opened()
    seen, everything = [], asyncio.Event()

    async def listen():
        async for event in other.events(after=start, follow=True):
            seen.append(event)
            if len(seen) == 20 * 5:
                everything.set()

    start = await other.services.store.stream_start()
    listening = asyncio.create_task(listen())
    jobs = [await app.enqueue("work", n) for n in range(20)]
    async with working(app, concurrency=8):
        await asyncio.wait_for(everything.wait(), 30)
        for job in jobs:
            await ended(app, job)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    assert len({(event.job_id, event.seq) for event in seen}) == len(seen) == 100
    for job in jobs:
        assert [event.seq for event in seen if event.job_id == job.id] == [1, 2, 3, 4, 5]


async def test_a_stream_goes_on_where_its_token_says(app):
    start = await app.services.store.stream_start()
    jobs = [await app.enqueue("work", n) for n in range(4)]
    async with working(app, concurrency=1):
        for job in jobs:
            await ended(app, job)
    everything = [event async for event in app.events(after=start)]
    assert len(everything) == 20
    for cut in (0, 7, 19):
        rest = [event async for event in app.events(after=everything[cut].token)]
        assert [(event.job_id, event.seq) for event in rest] == [(e.job_id, e.seq) for e in everything[cut + 1 :]]
    assert [event async for event in app.events()] == []  # from now on, and nothing has happened since


async def test_what_happens_between_two_looks_is_not_missed():
    """A follower listens from the moment it exists, not from the moment it first waits."""
    pulse = Pulse()
    follower = pulse.follow(at_least_every=3600)
    pulse.beat()
    async with asyncio.timeout(10):
        await anext(follower)
        waiting = asyncio.create_task(anext(follower))
        await asyncio.sleep(0)
        assert not waiting.done()
        pulse.beat()
        await waiting
