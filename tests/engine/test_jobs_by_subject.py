"""Jobs by what they work on: listed, cancelled, requeued and deleted by the thing's kind and id."""

import pytest

from tests.engine.working import Gate, ended, working
from towpath import Context, Fatal, NotRequeueable, Partial, State

BOOK = ("book", "b1")


@pytest.fixture
def books(app):
    @app.operation("read")
    async def read(ctx: Context, payload: str):
        if payload == "torn":
            raise Fatal("a page is missing")
        if payload == "stained":
            return Partial("half", "a page cannot be read")
        if payload == "series":
            await ctx.gather("read", ["one", "two"])
        return payload

    return app


async def put(app, payload, subject=BOOK):
    return await app.enqueue("read", payload, subject=subject, tenant="anna")


async def worked_off(app, *jobs):
    async with working(app):
        for job in jobs:
            await ended(app, job)


async def test_each_subject_is_told_with_its_root_jobs_oldest_first(books):
    first, second = await put(books, "series"), await put(books, "plain")
    other, plain = await put(books, "plain", ("book", "b2")), await books.enqueue("read", "plain")
    await worked_off(books, first, second, other, plain)
    found = await books.subjects.jobs("book", ["b1", "b2", "b3", "b1"])
    assert {one: [job.id for job in jobs] for one, jobs in found.items()} == {
        "b1": [first.id, second.id],
        "b2": [other.id],
        "b3": [],
    }
    assert await books.subjects.jobs("film", ["b1"]) == {"b1": []}
    assert await books.subjects.jobs("book", []) == {}


async def test_they_are_read_in_the_same_moment_as_a_slices_own_rows(books):
    job = await put(books, "plain")

    async def unit(now):
        return await now.jobs_of("book", ["b1"])

    assert [one.id for one in (await books.read(unit))["b1"]] == [job.id]


async def test_cancelling_a_subject_reaches_everything_that_is_done_with_it(books):
    done = await put(books, "plain")
    await worked_off(books, done)
    waiting, other = await put(books, "plain"), await put(books, "plain", ("book", "b2"))
    stopped = await books.subjects.cancel("book", "b1", "somebody else has it")
    assert stopped.ids == [waiting.id]
    states = [(await books.get(job.id)).state for job in (done, waiting, other)]
    assert states == [State.SUCCEEDED, State.CANCELLED, State.QUEUED]
    assert (await books.subjects.cancel("book", "b1")).ids == []


@pytest.mark.parametrize("payload", ["torn", "stained"])
async def test_requeueing_a_subject_gives_its_newest_job_a_fresh_start(books, payload):
    old, newest = await put(books, "plain"), await put(books, payload)
    await worked_off(books, old, newest)
    again = await books.subjects.requeue("book", "b1")
    assert (again.id, again.state) == (newest.id, State.QUEUED)


async def test_a_subject_that_needs_no_requeue_says_why(books):
    with pytest.raises(NotRequeueable, match="book b1 was not requeued: no job of it is left"):
        await books.subjects.requeue(*BOOK)
    torn = await put(books, "torn")
    await worked_off(books, torn)
    live = await put(books, "plain")
    with pytest.raises(NotRequeueable, match=f"job {live.id} is queued"):
        await books.subjects.requeue(*BOOK)
    await worked_off(books, live)
    with pytest.raises(NotRequeueable, match="succeeded"):
        await books.subjects.requeue(*BOOK)


async def test_deleting_a_subject_removes_its_jobs_whatever_they_are_doing(app):
    gate = Gate()

    @app.operation("read")
    async def read(ctx: Context, payload: str):
        await gate.wait()

    running, waiting = [await put(app, "plain") for _ in range(2)]
    other = await put(app, "plain", ("book", "b2"))
    async with working(app, concurrency=1):
        await gate.until_reached()
        removed = await app.subjects.delete(*BOOK)
    assert sorted(removed.gone) == sorted([running.id, waiting.id])
    assert removed.refused == {}
    assert [job.id for job in await app.list()] == [other.id]
