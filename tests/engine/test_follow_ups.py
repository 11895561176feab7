"""Jobs made by jobs, and the trace that runs through them."""

import pytest

from tests.engine.working import AT_ONCE, Gate, ended, in_state, working
from towpath import Fatal, Partial, RetryLater, State, Transient

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_a_follow_up_is_created_when_its_maker_succeeds(app):
    @app.operation("next", queue="other")
    async def following(ctx, payload):
        return payload

    @app.operation("first")
    async def first(ctx):
        return ctx.enqueue("next", {"n": 1})

    async with working(app):
        follower = await app.result((await app.enqueue("first", tenant="alice", priority=2)).id, timeout=10)
        assert await app.result(follower, timeout=10) == {"n": 1}
    row = await app.get(follower)
    assert (row.tenant, row.lane, row.priority, row.queue, row.parent_id) == ("alice", "alice", 2, "other", None)


async def test_a_follow_up_is_not_there_before_its_maker_has_ended(app):
    gate = Gate()

    @app.operation("next", queue="unserved")
    async def following(ctx): ...

    @app.operation("first", queue="served")
    async def first(ctx):
        ctx.enqueue("next")
        await gate.wait()

    job = await app.enqueue("first")
    async with working(app, "served"):
        await gate.until_reached()
        assert await app.list(operation="next") == []
        gate.open()
        await ended(app, job)
        assert len(await app.list(operation="next")) == 1


@pytest.mark.parametrize("ending", [Fatal("no"), RetryLater("busy", delay_seconds=60), "cancel"])
async def test_a_follow_up_of_an_entry_that_does_not_succeed_is_never_created(app, ending):
    gate = Gate()

    @app.operation("next", queue="unserved")
    async def following(ctx): ...

    @app.operation("first", queue="served")
    async def first(ctx):
        ctx.enqueue("next")
        if isinstance(ending, Exception):
            raise ending
        await gate.wait()

    job = await app.enqueue("first")
    async with working(app, "served"):
        if ending == "cancel":
            await gate.until_reached()
            await app.cancel(job.id)
            await in_state(app, job, "cancelled")
        elif isinstance(ending, Fatal):
            await in_state(app, job, "failed")
        else:
            async with working(app, "served"):
                await _came_back(app, job)
    assert await app.list(operation="next") == []


async def _came_back(app, job):
    async for event in app.events(job_id=job.id, follow=True):
        if event.name == "job.retry_later":
            return


async def test_a_retried_entry_does_not_double_its_follow_ups(app):
    @app.operation("next", queue="unserved")
    async def following(ctx, payload): ...

    @app.operation("first", queue="served", retry=AT_ONCE)
    async def first(ctx):
        ctx.enqueue("next", ctx.attempt)
        if ctx.attempt < 3:
            raise Transient("again")
        return Partial("some", "not all")

    job = await app.enqueue("first")
    async with working(app, "served"):
        assert (await ended(app, job)).state is State.PARTIAL
    assert [follower.payload for follower in await app.list(operation="next")] == [3]


async def test_a_trace_reaches_the_operation_its_children_and_its_follow_ups(app):
    seen = {}

    @app.operation("child")
    async def child(ctx):
        seen["child"] = ctx.trace

    @app.operation("sync")
    def sync(ctx):
        seen["sync"] = ctx.trace

    @app.operation("parent")
    async def parent(ctx):
        seen["parent"] = ctx.trace
        await ctx.gather("child", [None])
        ctx.enqueue("sync")
        async with app.transaction() as tx:
            await tx.enqueue("child", key="joined")
        other = await app.enqueue("sync")  # enqueued from inside, though not through the context
        return (await app.get(other.id)).trace

    job = await app.enqueue("parent", trace=TRACE)
    async with working(app):
        assert await app.result(job.id, timeout=20) == TRACE
    assert seen["parent"] == seen["child"] == TRACE
    assert {row.trace for row in await app.list()} == {TRACE}
    untraced = await app.enqueue("child")
    assert (await app.get(untraced.id)).trace is None
