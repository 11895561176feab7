"""Jobs by what they work on: listed, cancelled, requeued and deleted by the thing's kind and id."""

import pytest

from tests.engine.working import Gate, ended, eventually, in_state, on_postgres, working
from towpath import ConfigurationError, Context, Fatal, NotRequeueable, Partial, SchemaInvalid, State
from towpath.core import failpoints, transitions
from towpath.engine import subjects
from towpath.store import ledger

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


async def test_a_signal_to_a_subject_reaches_its_live_jobs_and_answers_which(books):
    @books.operation("borrow")
    async def borrow(ctx: Context, payload: str):
        return await ctx.wait_for("returned", timeout=60)

    done = await put(books, "plain")
    async with working(books):
        await ended(books, done)
        waits = await books.enqueue("borrow", "one", subject=BOOK)
        other = await books.enqueue("borrow", "two", subject=("book", "b2"))
        await in_state(books, waits, "waiting")
        late = await books.enqueue("borrow", "three", subject=BOOK, delay=0.2)  # it may be signalled before it waits
        assert await books.subjects.signal("book", "b1", "returned", {"by": "anna"}) == [waits.id, late.id]
        for job in (waits, late):
            assert await books.result(job.id, timeout=20) == {"by": "anna"}
        assert (await books.get(other.id)).live


async def test_a_signal_to_a_subject_that_nobody_works_on_reaches_nobody(books):
    done = await put(books, "plain")
    await worked_off(books, done)
    assert await books.subjects.signal("book", "b1", "returned") == []
    assert await books.subjects.signal("book", "nowhere", "returned") == []
    with pytest.raises(SchemaInvalid, match="signal"):
        await books.subjects.signal("book", "b1", "")
    with pytest.raises(ConfigurationError, match="a subject's kind"):
        await books.subjects.signal("two words", "b1", "returned")


async def test_a_job_that_ends_while_its_subject_is_signalled_is_passed_over(books, monkeypatch):
    job = await put(books, "plain")
    listed = subjects.jobs_of

    async def late(tx, kind, ids):
        found = await listed(tx, kind, ids)
        await ledger.apply(tx, [transitions.cancel(job.id)])
        return found

    monkeypatch.setattr(subjects, "jobs_of", late)
    assert await books.subjects.signal("book", "b1", "returned") == []


async def test_a_child_with_a_subject_of_its_own_is_listed_by_it_and_goes_with_its_root(books):
    """What is said of subjects is said of root jobs: a child is not cancelled by itself."""

    @books.operation("bind")
    async def bind(ctx: Context):
        await ctx.gather("press", ["p"], subject=("page", "7"))

    @books.operation("press")
    async def press(ctx: Context, payload: str):
        await ctx.wait_for("dry")

    job = await books.enqueue("bind", subject=BOOK)
    async with working(books):
        [child] = await eventually(lambda: books.list(subject=("page", "7"), state="waiting"))
        assert await books.subjects.jobs("page", ["7"]) == {"7": []}
        assert (await books.subjects.cancel("page", "7")).was == {}
        assert await books.subjects.signal("page", "7", "dry") == []
        await books.subjects.cancel(*BOOK)
        assert (await ended(books, child)).state is State.CANCELLED
    assert (await books.get(job.id)).state is State.CANCELLED
