"""Events as they happen: of one job until it has ended, of all jobs for as long as somebody listens."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from tests.contracts.streams import stream_start
from tests.engine.working import Gate, ended, working
from towpath import Fatal, JobNotFound, StreamReset
from towpath.engine.asking.deltas import Deltas
from towpath.engine.tending import tombstones
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

    start = await stream_start(other.services.store)
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
    start = await stream_start(app.services.store)
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


async def test_a_token_of_the_push_stream_is_one_of_the_library_too(app):
    stream = await Deltas.of(app.services.store)
    place = await stream.now()
    jobs = [await app.enqueue("work", n) for n in range(3)]
    page = await stream.page(place)
    token = stream.token(page.place_after(page.events[0]))
    assert [event.job_id async for event in app.events(after=token)] == [job.id for job in jobs[1:]]
    [*_, last] = [event async for event in app.events(after=stream.token(place))]
    assert (await stream.place(last.token)).inside("", "", 0).since == place.since


async def test_a_deleted_job_has_left_the_stream_and_what_comes_after_it_has_not(app):
    start = await stream_start(app.services.store)
    gone, stays = await app.enqueue("work", 1), await app.enqueue("work", 2)
    await app.cancel(gone.id)
    await app.delete(gone.id)
    assert [event.job_id async for event in app.events(after=start)] == [stays.id]


async def test_large_fields_are_told_whole(app):
    @app.operation("wordy")
    async def wordy(ctx, payload):
        await ctx.emit("word", fields={"text": "ä" * 9000})

    start = await stream_start(app.services.store)
    job = await app.enqueue("wordy")
    async with working(app):
        await ended(app, job)
    [word] = [event async for event in app.events(after=start) if event.name == "word"]
    assert word.fields == {"text": "ä" * 9000}


@pytest.mark.parametrize("token", ["", "0", "12|13|4", "nonsense", "5f2c91aa.1794790000.1-1"])
async def test_a_token_that_leads_nowhere_is_refused_with_what_to_do(app, token):
    with pytest.raises(StreamReset, match="this database does not know; begin without a token") as refused:
        async for _ in app.events(after=token):
            pass
    assert refused.value.reason == "unknown"


async def test_a_token_from_before_what_is_kept_has_expired(app):
    start = await stream_start(app.services.store)
    assert [event async for event in app.events(after=start)] == []
    await app.services.store.run(partial(tombstones.raise_floor, age=timedelta(days=-2)))
    with pytest.raises(StreamReset, match="has expired") as refused:
        async for _ in app.events(after=start):
            pass
    assert refused.value.reason == "expired"


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
