"""Keys when an ended job comes back, and capped lanes inside a caller's own transaction."""

import asyncio

import pytest

from tests.engine.working import working
from towpath import App, Fatal, NotRequeueable


def _app(url):
    app = App(url)

    @app.operation("work", queue="q")
    async def work(ctx, payload: dict) -> str:
        if payload.get("fail"):
            raise Fatal("as asked")
        return "done"

    return app


async def test_a_job_whose_key_is_held_by_a_live_job_cannot_be_requeued(database_url):
    async with _app(database_url) as app:
        old = await app.enqueue("work", {"fail": True}, key="one")
        async with working(app):
            with pytest.raises(Exception, match="as asked"):
                await app.result(old.id, timeout=20)
        new = await app.enqueue("work", {}, key="one")
        assert new.id != old.id
        with pytest.raises(NotRequeueable, match=new.id):
            await app.requeue(old.id)
        await app.cancel(new.id)
        assert (await app.requeue(old.id)).state == "queued"


async def test_an_open_transaction_that_enqueues_into_a_capped_lane_blocks_no_settle_of_that_lane(postgres_url):
    async with _app(postgres_url) as app:
        await app.queues.lane("q", "alice", max_slots=1)
        first = await app.enqueue("work", {}, tenant="alice")
        async with working(app):
            async with app.transaction() as tx:
                second = await tx.enqueue("work", {}, tenant="alice")
                async with asyncio.timeout(20):
                    assert await app.result(first.id) == "done"
            assert await app.result(second, timeout=20) == "done"
