"""Plain fan-out: the operation ends, its last child closes the job."""

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, happened, in_state, working
from towpath import Deferred, Done, Fatal, Partial, State, Transient


@pytest.fixture
def app(app):
    @app.operation("child", queue="children")
    async def child(ctx, n):
        if n == "half":
            return Partial("half", "the other half is missing")
        if n < 0:
            raise Fatal(f"child {n} is negative")
        return n

    @app.operation("parent", queue="parents")
    async def parent(ctx, payloads):
        await ctx.spawn("child", payloads)
        return Deferred({"asked": len(payloads)})

    return app


@pytest.mark.parametrize(
    ("payloads", "state", "counts"),
    [
        ([1, 2, 3], "succeeded", (3, 0, 0)),
        ([1, -2, -3], "partial", (1, 0, 2)),
        ([1, "half"], "partial", (1, 1, 0)),
        ([-1, -2], "failed", (0, 0, 2)),
        ([], "succeeded", (0, 0, 0)),
    ],
    ids=["all", "some", "half", "none", "zero"],
)
async def test_the_last_child_closes_the_parent(app, payloads, state, counts):
    job = await app.enqueue("parent", payloads)
    async with working(app, concurrency=2):
        row = await ended(app, job)
    assert row.state == state
    assert (row.children_ok, row.children_partial, row.children_bad) == counts
    assert row.result == {"asked": len(payloads)}
    assert (row.progress_current, row.progress_total) == (len(payloads), len(payloads))
    assert len(await happened(app, job, "job.started")) == 1
    if state == "failed":
        assert row.error["kind"] == "children"
        assert [found.operation for found in await app.inbox.jobs()] == ["child", "child"]


@pytest.mark.parametrize("outcome", [None, "text", Done("done")])
@pytest.mark.parametrize("children_first", [True, False])
async def test_a_parent_that_just_returns_is_closed_by_its_children_all_the_same(app, outcome, children_first):
    """Whether the children end before or after the operation must not change what becomes of the job."""

    @app.operation("returns", queue="parents")
    async def returns(ctx):
        await ctx.spawn("child", [1, -1])
        if children_first:
            await eventually(lambda: _all_children_ended(app, ctx.id))
        return outcome

    job = await app.enqueue("returns")
    if children_first:
        async with working(app):
            row = await ended(app, job)
    else:
        async with working(app, "parents"):
            await in_state(app, job, "waiting")
        async with working(app):
            row = await ended(app, job)
    assert row.state is State.PARTIAL
    assert row.result == (outcome.result if isinstance(outcome, Done) else outcome)


async def _all_children_ended(app, job_id):
    row = await app.get(job_id)
    return row.children_total > 0 and row.children_open == 0


async def test_the_row_shows_how_many_children_have_ended(app):
    job = await app.enqueue("parent", [1, 2, -3])
    async with working(app, "parents"):
        row = await in_state(app, job, "waiting")
    assert (row.children_total, row.children_open, row.progress_current, row.progress_total) == (3, 3, 0, 3)
    [first, second, third] = reversed(await app.list(parent=job.id))
    await app.cancel(first.id)
    row = await app.get(job.id)
    assert (row.children_bad, row.children_open, row.progress_current, row.progress_total) == (1, 2, 1, 3)
    async with working(app, "children"):
        row = await ended(app, job)
    assert (row.state, row.children_ok, row.children_bad) == (State.PARTIAL, 1, 2)
    assert {(await app.get(kid.id)).state.value for kid in (second, third)} == {"succeeded", "failed"}


async def test_progress_of_its_own_is_left_alone(app):
    @app.operation("counting", queue="parents")
    async def counting(ctx):
        await ctx.progress(1, 10)
        await ctx.spawn("child", [1, 2])
        return Deferred()

    job = await app.enqueue("counting")
    async with working(app):
        row = await ended(app, job)
    assert (row.progress_current, row.progress_total) == (1, 10)
    assert row.children_ok == 2


async def test_a_retry_after_the_fan_out_does_not_fan_out_again(app):
    @app.operation("flaky", queue="parents", retry=AT_ONCE)
    async def flaky(ctx):
        number = await ctx.spawn("child", [1, 2])
        if ctx.attempt < 3:
            raise Transient("after the spawn")
        return Deferred(number)

    job = await app.enqueue("flaky")
    async with working(app):
        row = await ended(app, job)
    assert (row.state, row.result, row.children_total) == (State.SUCCEEDED, 2, 2)
    assert len(await app.list(parent=job.id)) == 2


async def test_a_parent_that_fails_for_good_takes_its_open_children_with_it(app):
    @app.operation("dies", queue="parents")
    async def dies(ctx):
        await ctx.spawn("child", [1, 2])
        raise Fatal("changed its mind")

    job = await app.enqueue("dies")
    async with working(app, "parents"):
        row = await ended(app, job)
    assert row.state is State.FAILED
    assert {kid.state for kid in await app.list(parent=job.id)} == {State.CANCELLED}
    assert row.children_open == 0


async def test_a_partial_parent_cancels_what_it_did_not_wait_for(app):
    @app.operation("hasty", queue="parents")
    async def hasty(ctx):
        await ctx.spawn("child", [1])
        return Partial("some", "no time for the rest")

    job = await app.enqueue("hasty")
    async with working(app, "parents"):
        row = await ended(app, job)
    assert (row.state, row.result) == (State.PARTIAL, "some")
    [event] = await happened(app, job, "job.partial")
    assert (event.message, event.level) == ("no time for the rest", "warning")
    assert [kid.state for kid in await app.list(parent=job.id)] == [State.CANCELLED]
