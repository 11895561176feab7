"""Fan out, wait without a slot, and go on with the results."""

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, happened, in_state, working
from towpath import ChildrenFailed, Fatal, State, Transient


@pytest.fixture
def app(app):
    @app.operation("child", retry=AT_ONCE)
    async def child(ctx, n):
        if n < 0:
            raise Fatal(f"child {n} is negative")
        return n * n

    return app


async def test_results_come_in_the_order_of_the_payloads(app):
    @app.operation("parent")
    async def parent(ctx):
        kids = await ctx.gather("child", range(7))
        assert (len(kids), kids.succeeded, kids.failed, kids.all_ok) == (7, 7, 0, True)
        assert [job.payload async for job in kids] == list(range(7))
        return await kids.results()

    job = await app.enqueue("parent", tenant="alice", priority=2)
    async with working(app):
        assert await app.result(job.id, timeout=20) == [0, 1, 4, 9, 16, 25, 36]
    children = await app.list(parent=job.id)
    assert {(kid.tenant, kid.priority, kid.root_id) for kid in children} == {("alice", 2, job.id)}
    row = await app.get(job.id)
    assert (row.children_total, row.children_ok, row.children_open) == (7, 7, 0)
    assert (row.progress_current, row.progress_total) == (7, 7)
    assert row.failures == 0


async def test_a_waiting_parent_holds_no_slot(app):
    @app.operation("parent")
    async def parent(ctx):
        return await (await ctx.gather("child", [1, 2])).results()

    job = await app.enqueue("parent")
    async with working(app, concurrency=1):
        assert await app.result(job.id, timeout=20) == [1, 4]


async def test_failed_children_fail_the_parent_unless_partial_is_ok(app):
    caught = []

    @app.operation("strict")
    async def strict(ctx):
        await ctx.gather("child", [1, -2, -3])

    @app.operation("careful")
    async def careful(ctx):
        try:
            await ctx.gather("child", [1, -2])
        except ChildrenFailed as failed:
            caught.append(failed.children.counts)
            return "saw it"

    @app.operation("lenient")
    async def lenient(ctx):
        kids = await ctx.gather("child", [1, -2, 3], partial_ok=True)
        return [kids.succeeded, kids.failed, await kids.results()]

    jobs = {name: await app.enqueue(name) for name in ("strict", "careful", "lenient")}
    async with working(app):
        rows = {name: await ended(app, job) for name, job in jobs.items()}
    strict_row = rows["strict"]
    assert (strict_row.state, strict_row.failures) == (State.FAILED, 1)
    assert strict_row.error["error_class"] == "ChildrenFailed"
    assert strict_row.error["message"].startswith("2 of 3 children did not succeed: child -2 is negative")
    assert "partial_ok" in strict_row.error["remedy"]
    assert rows["careful"].result == "saw it"
    assert caught == [{"failed": 1, "succeeded": 1}]
    assert rows["lenient"].result == [2, 1, [1, None, 9]]


async def test_the_inbox_shows_the_children_and_not_the_parent_that_failed_with_them(app):
    @app.operation("parent")
    async def parent(ctx):
        await ctx.gather("child", [-1])

    job = await app.enqueue("parent")
    async with working(app):
        await ended(app, job)
    assert [found.operation for found in await app.inbox.jobs()] == ["child"]
    assert [group.operation for group in await app.inbox.groups()] == ["child"]


async def test_no_children_is_no_wait(app):
    @app.operation("parent")
    async def parent(ctx):
        kids = await ctx.gather("child", [])
        return [len(kids), kids.all_ok, await kids.results()]

    job = await app.enqueue("parent")
    async with working(app):
        assert await app.result(job.id, timeout=10) == [0, True, []]
    assert len(await happened(app, job, "job.started")) == 1


async def test_a_thousand_children(app):
    @app.operation("parent")
    async def parent(ctx):
        return sum(await (await ctx.gather("child", range(1000))).results())

    job = await app.enqueue("parent")
    async with working(app, concurrency=50):
        assert await app.result(job.id, timeout=60) == sum(n * n for n in range(1000))
    row = await app.get(job.id)
    assert (row.children_total, row.children_ok) == (1000, 1000)
    assert len(await happened(app, job, "job.resumed")) == 1


async def test_gathers_nest(app):
    @app.operation("middle")
    async def middle(ctx, n):
        return sum(await (await ctx.gather("child", [n, n + 1])).results())

    @app.operation("top")
    async def top(ctx):
        return await (await ctx.gather("middle", [1, 10])).results()

    job = await app.enqueue("top")
    async with working(app, concurrency=2):
        assert await app.result(job.id, timeout=20) == [5, 221]
    rows = await app.list()
    assert {row.root_id for row in rows} == {job.id}
    assert len(rows) == 7


async def test_one_gather_after_another(app):
    entries = []

    @app.operation("parent")
    async def parent(ctx):
        entries.append(ctx.fence)
        first = await (await ctx.gather("child", [2, 3])).results()
        second = await (await ctx.gather("child", first, key="again")).results()
        return [first, second]

    job = await app.enqueue("parent")
    async with working(app):
        assert await app.result(job.id, timeout=20) == [[4, 9], [16, 81]]
    assert len(entries) == 3
    assert (await app.get(job.id)).children_total == 4


async def test_two_gathers_of_one_operation_need_a_key(app):
    @app.operation("parent")
    async def parent(ctx):
        await ctx.gather("child", [1])
        await ctx.gather("child", [2])

    job = await app.enqueue("parent")
    async with working(app):
        row = await ended(app, job)
    assert row.error["error_class"] == "StepNameReused"
    assert "key=" in row.error["message"]


async def test_a_retried_parent_does_not_fan_out_again(app):
    @app.operation("parent", retry=AT_ONCE)
    async def parent(ctx):
        kids = await ctx.gather("child", [1, 2])
        if ctx.attempt < 3:
            raise Transient("after the gather")
        return await kids.results()

    job = await app.enqueue("parent")
    async with working(app):
        assert await app.result(job.id, timeout=20) == [1, 4]
    assert len(await app.list(parent=job.id)) == 2


async def test_a_cancelled_child_counts_as_failed(app):
    @app.operation("slow", queue="unserved")
    async def slow(ctx, n): ...

    @app.operation("parent", queue="served")
    async def parent(ctx):
        kids = await ctx.gather("slow", [1], partial_ok=True)
        return kids.counts

    job = await app.enqueue("parent")
    async with working(app, "served"):
        await in_state(app, job, "waiting")
        [child] = await app.list(parent=job.id)
        assert await app.cancel(child.id)
        assert await app.result(job.id, timeout=20) == {"cancelled": 1}


async def test_a_gather_beside_a_spawn_waits_for_its_own_children_only(app):
    """The spawned child cannot run yet: the gather goes on without it, and the parent ends with it."""

    @app.operation("late", queue="late")
    async def late(ctx, n):
        return n

    @app.operation("parent", queue="first")
    async def parent(ctx):
        await ctx.spawn("late", [1])
        return await (await ctx.gather("child", [3], queue="first")).results()

    job = await app.enqueue("parent")
    async with working(app, "first"):
        await eventually(lambda: _closing(app, job))
        assert (await app.get(job.id)).state is State.WAITING
        async with working(app, "late"):
            assert await app.result(job.id, timeout=20) == [9]
    assert (await app.get(job.id)).state is State.SUCCEEDED


async def _closing(app, job):
    return (await app.get(job.id)).closing
