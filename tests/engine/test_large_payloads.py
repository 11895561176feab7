"""Payloads that are too large for a row become blobs, whichever way a job is made."""

import pytest

from tests.engine.working import ended, working
from towpath import PayloadTooLarge, SyncContext

LONG = "x" * 500


@pytest.fixture
async def app(opened):
    app = await opened(inline_bytes=100, max_payload_bytes=2000)

    @app.operation("keep")
    async def keep(ctx, text: str):
        return len(text)

    @app.operation("follow")
    async def follow(ctx, text: str):
        return ctx.enqueue("keep", text * 2)

    @app.operation("follow.silently")
    async def follow_silently(ctx, text: str):
        ctx.enqueue("keep", text * 2)

    @app.operation("follow.in-a-thread")
    def follow_from_a_thread(ctx: SyncContext, text: str):
        return ctx.enqueue("keep", text * 2)

    @app.operation("spawn")
    async def spawn(ctx, text: str):
        await ctx.spawn("keep", [text, text * 2])

    @app.operation("gather")
    async def gather(ctx, text: str):
        return await (await ctx.gather("keep", [text, text * 2])).results()

    return app


def blobs_of(job):
    return "$blob" in job.payload_json


@pytest.mark.parametrize("name", ["follow", "follow.silently", "follow.in-a-thread"])
async def test_a_follow_up_may_be_large(app, name):
    job = await app.enqueue(name, LONG)
    async with working(app):
        await ended(app, job)
        [follower] = await app.list(operation="keep")
        await ended(app, follower)
    assert blobs_of(follower)
    assert await app.payload(follower.id) == LONG * 2
    assert await app.result(follower.id) == 1000


@pytest.mark.parametrize("name", ["spawn", "gather"])
async def test_children_may_be_large(app, name):
    job = await app.enqueue(name, LONG)
    async with working(app):
        await ended(app, job)
    children = await app.list(parent=job.id)
    assert [blobs_of(child) for child in children] == [True, True]
    assert sorted([await app.result(child.id) for child in children]) == [500, 1000]


async def test_a_job_made_in_a_transaction_may_be_large(app):
    async with app.transaction() as tx:
        job_id = await tx.enqueue("keep", LONG, key="k")
        assert await tx.enqueue("keep", LONG * 2, key="k") == job_id
    job = await app.get(job_id)
    assert blobs_of(job)
    async with working(app):
        await ended(app, job)
    assert await app.result(job_id) == 500
    assert [info.key async for info in app.services.blobs.list("jobs")] == [f"jobs/{job_id}/payload"]


async def test_what_is_over_the_limit_is_refused_in_a_transaction_too(app):
    with pytest.raises(PayloadTooLarge):
        async with app.transaction() as tx:
            await tx.enqueue("keep", LONG * 10)
    assert await app.list() == []
