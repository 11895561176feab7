"""Jobs by what they work on: listed, cancelled, requeued and deleted by the thing's kind and id."""

import pytest

from tests.engine.working import Gate, ended, on_postgres, working
from towpath import Context, Fatal, NotRequeueable, Partial, State
from towpath.core import failpoints

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


@pytest.fixture
def meanwhile(app, monkeypatch):
    """Lets something happen once, just before the next transaction that changes anything, or just after it."""

    def arrange(happens, *, after=False):
        run = app.services.store.run

        async def later(unit):
            monkeypatch.setattr(app.services.store, "run", run)
            if not after:
                await happens()
            answer = await run(unit)
            if after:
                await happens()
            return answer

        monkeypatch.setattr(app.services.store, "run", later)

    return arrange


@pytest.fixture
def once_at():
    """Lets something happen once in the middle of a transaction, at a point of `failpoints`."""

    def arrange(name, happens):
        def hook(reached):
            if reached != name:
                return None
            failpoints.install(None)
            return happens()

        failpoints.install(hook)

    yield arrange
    failpoints.install(None)


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


async def test_a_job_that_comes_while_its_subject_is_being_cancelled_is_cancelled_too(books, meanwhile):
    first, came = await put(books, "plain"), []
    meanwhile(lambda: _and_keep(came, put(books, "plain")))
    stopped = await books.subjects.cancel(*BOOK)
    assert sorted(stopped.ids) == [first.id, came[0].id]


async def test_a_job_that_ends_while_its_subject_is_being_cancelled_does_not_count_as_cancelled(books, meanwhile):
    first, second = await put(books, "plain"), await put(books, "plain")
    meanwhile(lambda: books.cancel(first.id, "somebody was faster"))
    stopped = await books.subjects.cancel(*BOOK)
    assert stopped.ids == list(stopped.was) == [second.id]


@on_postgres
async def test_a_job_that_is_committed_in_the_middle_of_cancelling_its_subject_is_cancelled_too(books, once_at):
    first, came = await put(books, "plain"), []
    once_at("apply.looked", lambda: _and_keep(came, put(books, "plain")))
    stopped = await books.subjects.cancel(*BOOK)
    assert sorted(stopped.ids) == [first.id, came[0].id]
    assert stopped.was == {first.id: "queued", came[0].id: "queued"}


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


async def test_a_subject_that_gets_a_new_job_while_it_is_being_requeued_has_one_live_job(books, meanwhile):
    torn = await put(books, "torn")
    await worked_off(books, torn)
    meanwhile(lambda: put(books, "plain"))
    with pytest.raises(NotRequeueable, match="is queued; cancel it first"):
        await books.subjects.requeue(*BOOK)
    assert (await books.get(torn.id)).state is State.FAILED


@on_postgres
async def test_a_new_job_that_is_committed_in_the_middle_of_a_requeue_is_the_only_live_one(books, once_at):
    torn = await put(books, "torn")
    await worked_off(books, torn)
    once_at("apply.looked", lambda: put(books, "plain"))
    with pytest.raises(NotRequeueable, match="is queued; cancel it first"):
        await books.subjects.requeue(*BOOK)
    assert (await books.get(torn.id)).state is State.FAILED


async def test_a_requeued_job_is_told_as_it_was_then_even_if_it_is_gone_a_moment_later(books, meanwhile):
    torn = await put(books, "torn")
    await worked_off(books, torn)
    meanwhile(lambda: books.remove([torn.id]), after=True)
    again = await books.subjects.requeue(*BOOK)
    assert (again.id, again.state) == (torn.id, State.QUEUED)
    assert await books.list() == []


async def _and_keep(kept, made):
    kept.append(await made)


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
