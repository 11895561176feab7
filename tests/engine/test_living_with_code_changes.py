"""Two releases of one operation on one database: what is on record stays valid, or says why not."""

import pytest

from tests.engine.working import ended, in_state, working
from towpath import State

RAN = []


async def _step(ctx, name):
    async def run():
        RAN.append(name)
        return name

    return await ctx.step(name, run)


@pytest.fixture(autouse=True)
def nothing_ran_yet():
    RAN.clear()


@pytest.fixture
async def releases(opened):
    """The old and the new release; a job begins with the old one, waits, and goes on with the new one."""
    return await opened(), await opened()


async def _begin_with(old, operation="work"):
    job = await old.enqueue(operation)
    async with working(old):
        await in_state(old, job, "waiting")
    return job


async def _go_on_with(new, job):
    await new.signal(job.id, "go", "now")
    async with working(new):
        return await ended(new, job)


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        (["a", "b"], []),
        (["a", "new", "b"], ["new"]),
        (["new", "a", "b"], ["new"]),
        (["b", "a"], []),
        (["b"], []),
        ([], []),
    ],
    ids=["unchanged", "added between", "added before", "reordered", "removed", "all removed"],
)
async def test_steps_may_be_added_removed_and_reordered(releases, names, runs):
    old, new = releases

    @old.operation("work")
    async def work(ctx):
        for name in ("a", "b"):
            await _step(ctx, name)
        return await ctx.wait_for("go")

    @new.operation("work")
    async def work_now(ctx):
        outputs = [await _step(ctx, name) for name in names]
        return [*outputs, await ctx.wait_for("go")]

    job = await _begin_with(old)
    assert RAN == ["a", "b"]
    RAN.clear()
    row = await _go_on_with(new, job)
    assert row.result == [*names, "now"]
    assert runs == RAN


async def test_the_same_name_with_another_kind_is_a_history_mismatch(releases):
    old, new = releases

    @old.operation("work")
    async def work(ctx):
        await _step(ctx, "sleep")
        return await ctx.wait_for("go")

    @new.operation("work")
    async def work_now(ctx):
        await ctx.sleep(0.01)
        return await ctx.wait_for("go")

    row = await _go_on_with(new, await _begin_with(old))
    assert (row.state, row.error["error_class"], row.error["kind"]) == (State.FAILED, "HistoryMismatch", "fatal")
    for word in ("'sleep'", "as a step", "another name"):
        assert word in row.error["message"]


async def test_a_gather_turned_into_a_spawn_is_another_thing_with_another_name(releases):
    old, new = releases
    for app in releases:

        @app.operation("child")
        async def child(ctx, payload):
            RAN.append(payload)
            return payload

    @old.operation("work")
    async def work(ctx):
        await ctx.gather("child", [1, 2])
        return await ctx.wait_for("go")

    @new.operation("work")
    async def work_now(ctx):
        kids = await ctx.gather("child", [1, 2, 3, 4])  # the record wins over what the code says now
        return [await kids.results(), await ctx.wait_for("go")]

    row = await _go_on_with(new, await _begin_with_children(old))
    assert row.result == [[1, 2], "now"]
    assert sorted(RAN) == [1, 2]


async def _begin_with_children(old):
    job = await old.enqueue("work")
    async with working(old):
        async for event in old.events(job_id=job.id, follow=True):
            if event.name == "job.waiting" and event.fields["reason"] == "signal":
                break
    return job


async def test_a_job_of_an_operation_that_moved_to_another_queue_is_still_run(releases):
    old, new = releases

    @old.operation("work", queue="here")
    async def work(ctx): ...

    @new.operation("work", queue="there")
    async def work_now(ctx):
        return "run"

    job = await old.enqueue("work")
    async with working(new, "here", "there"):
        assert (await ended(new, job)).result == "run"
