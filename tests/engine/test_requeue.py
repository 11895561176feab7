"""The way back for ended jobs, alone and in families."""

import pytest

from tests.engine.working import Gate, ended, eventually, happened, history, in_state, working
from towpath import ConfigurationError, Deferred, Fatal, NotRequeueable, SchemaInvalid, State

BROKEN = set()


@pytest.fixture(autouse=True)
def nothing_is_broken():
    BROKEN.clear()


@pytest.fixture
def app(app):
    @app.operation("child")
    async def child(ctx, n):
        if n in BROKEN:
            raise Fatal(f"{n} is broken")
        return n * 10

    @app.operation("gathering")
    async def gathering(ctx, numbers):
        return await (await ctx.gather("child", numbers)).results()

    @app.operation("spawning")
    async def spawning(ctx, numbers):
        await ctx.spawn("child", numbers)
        return Deferred("spawned")

    @app.operation("grand")
    async def grand(ctx, numbers):
        return await (await ctx.gather("gathering", [numbers])).results()

    return app


async def test_a_requeued_job_starts_fresh_and_keeps_its_history(app):
    BROKEN.add(1)
    job = await app.enqueue("child", 1)
    async with working(app):
        assert (await ended(app, job)).state is State.FAILED
    BROKEN.clear()
    row = await app.requeue(job.id)
    assert (row.failures, row.error, row.attempt) == (0, None, 1)
    async with working(app):
        assert await app.result(job.id, timeout=20) == 10
    names = [event.name for event in await history(app, job)]
    assert names == ["job.created", "job.started", "job.failed", "job.requeued", "job.started", "job.succeeded"]


async def test_a_job_that_succeeded_or_is_live_cannot_be_requeued(app):
    job = await app.enqueue("child", 1)
    with pytest.raises(NotRequeueable, match="queued"):
        await app.requeue(job.id)
    async with working(app):
        await ended(app, job)
    with pytest.raises(NotRequeueable, match="succeeded"):
        await app.requeue(job.id)


async def test_an_edited_payload_drops_the_recorded_steps_unless_told_otherwise(app):
    ran = []

    @app.operation("stepping")
    async def stepping(ctx, payload: dict):
        async def run():
            ran.append(payload["n"])
            return payload["n"]

        first = await ctx.step("first", run)
        if payload["n"] < 3:
            raise Fatal("too small")
        return first

    job = await app.enqueue("stepping", {"n": 1})
    async with working(app):
        await ended(app, job)
        await app.requeue(job.id, payload={"n": 2})
        await ended(app, job)
        await app.requeue(job.id, payload={"n": 3}, keep_steps=True)
        assert await app.result(job.id, timeout=10) == 2
    assert ran == [1, 2]
    assert await app.payload(job.id) == {"n": 3}
    requeued = await happened(app, job, "job.requeued")
    assert [event.fields["edited"] for event in requeued] == [True, True]


async def test_an_edited_payload_is_checked_like_any_other(app):
    @app.operation("typed")
    async def typed(ctx, payload: dict[str, int]):
        raise Fatal("no")

    job = await app.enqueue("typed", {"n": 1})
    async with working(app):
        await ended(app, job)
    with pytest.raises(SchemaInvalid) as refused:
        await app.requeue(job.id, payload={"n": "many"})
    assert refused.value.path == "n"
    assert (await app.get(job.id)).state is State.FAILED


@pytest.mark.parametrize("operation", ["gathering", "spawning"])
async def test_a_requeued_child_reopens_its_parent(app, operation):
    BROKEN.update({2})
    job = await app.enqueue(operation, [1, 2, 3])
    async with working(app):
        first = await ended(app, job)
        assert first.state == ("failed" if operation == "gathering" else "partial")
        BROKEN.clear()
        [failed] = await app.list(parent=job.id, state="failed")
        await app.requeue(failed.id)
        row = await _ended_again(app, job)
    assert row.state is State.SUCCEEDED
    assert row.result == ([10, 20, 30] if operation == "gathering" else "spawned")
    assert (row.children_ok, row.children_bad, row.error) == (3, 0, None)
    assert len(await happened(app, job, "job.reopened")) == 1


async def _ended_again(app, job):
    return await eventually(lambda: _succeeded(app, job))


async def _succeeded(app, job):
    row = await app.get(job.id)
    return row if row.state is State.SUCCEEDED else None


@pytest.mark.parametrize("operation", ["gathering", "spawning"])
async def test_a_requeued_parent_requeues_its_unsuccessful_children(app, operation):
    BROKEN.update({2, 3})
    job = await app.enqueue(operation, [1, 2, 3])
    async with working(app):
        await ended(app, job)
        BROKEN.clear()
        await app.requeue(job.id)
        row = await _ended_again(app, job)
    assert (row.children_ok, row.children_bad, row.children_total) == (3, 0, 3)
    starts = [len(await happened(app, kid, "job.started")) for kid in reversed(await app.list(parent=job.id))]
    assert starts == [1, 2, 2]


async def test_a_requeued_grandchild_reopens_the_whole_line(app):
    BROKEN.add(2)
    job = await app.enqueue("grand", [1, 2])
    async with working(app):
        assert (await ended(app, job)).state is State.FAILED
        BROKEN.clear()
        outcome = await app.inbox.requeue()
        assert (outcome.requeued, outcome.refused) == (1, {})
        row = await _ended_again(app, job)
    assert row.result == [[10, 20]]
    assert {kid.state for kid in await app.list()} == {State.SUCCEEDED}
    for kid in await app.list():
        await history(app, kid)


async def test_a_child_of_a_cancelled_parent_is_requeued_with_its_parent_only(app):
    gate = Gate()

    @app.operation("held")
    async def held(ctx, n):
        await gate.wait()

    @app.operation("parent")
    async def parent(ctx):
        await ctx.gather("held", [1])

    job = await app.enqueue("parent")
    async with working(app):
        await gate.until_reached()
        await app.cancel(job.id)
        [child] = await app.list(parent=job.id)
        with pytest.raises(NotRequeueable, match=job.id):
            await app.requeue(child.id)
        gate.open()
        await app.requeue(job.id)
        await ended(app, job)
        assert (await app.get(child.id)).state is State.SUCCEEDED


async def test_a_requeue_right_after_a_cancel_waits_for_the_old_handler_to_end(app):
    running, most = 0, 0
    gate = Gate()

    @app.operation("stubborn")
    async def stubborn(ctx):
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            if ctx.fence == 1:
                try:
                    await gate.wait()
                finally:
                    await gate.wait()  # its clean-up takes as long as the test wants
            return ctx.fence
        finally:
            running -= 1

    job = await app.enqueue("stubborn")
    async with working(app):
        await gate.until_reached()
        assert await app.cancel(job.id)
        row = await app.requeue(job.id)
        assert (row.state, row.reason, row.leased, row.ready) == (State.QUEUED, "ending", True, False)
        assert "old handler" in (await app.explain(job.id)).sentence
        gate.open()
        assert await app.result(job.id, timeout=20) == 2
    assert most == 1


async def test_an_unknown_state_is_refused_with_the_known_ones(app):
    with pytest.raises(ConfigurationError, match="succeeded"):
        await app.list(state="done")
    job = await app.enqueue("child", 1)
    await app.cancel(job.id)
    await in_state(app, job, "cancelled")
