"""Asking about jobs: results, rows, lists by page."""

import asyncio

import pytest

from tests.engine.working import Gate, ended, working
from towpath import (
    ConfigurationError,
    Fatal,
    JobCancelled,
    JobFailed,
    JobNotFound,
    Partial,
    ResultTimeout,
    State,
    StoreUnavailable,
)

NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def app(app):
    @app.operation("work", queue="q")
    async def work(ctx, payload):
        if payload == "fail":
            raise Fatal("no", remedy="do otherwise")
        return Partial("half") if payload == "half" else payload

    return app


async def test_result_waits_for_the_end_and_answers_it(app):
    job = await app.enqueue("work", {"n": 1})
    waiting = [asyncio.create_task(app.result(job.id, timeout=20)) for _ in range(5)]
    async with working(app):
        assert await asyncio.gather(*waiting) == [{"n": 1}] * 5
        assert await app.result(job.id) == {"n": 1}  # again, and at once
        assert await app.result((await app.enqueue("work", "half")).id, timeout=10) == "half"


async def test_result_raises_what_became_of_the_job(app):
    failing, cancelled = await app.enqueue("work", "fail"), await app.enqueue("work")
    await app.cancel(cancelled.id)
    async with working(app):
        with pytest.raises(JobFailed, match=f"{failing.id} failed: no") as failed:
            await app.result(failing.id, timeout=20)
    assert failed.value.failure["remedy"] == "do otherwise"
    with pytest.raises(JobCancelled, match=cancelled.id):
        await app.result(cancelled.id, timeout=20)
    with pytest.raises(JobNotFound):
        await app.result(NOBODY, timeout=20)


async def test_a_result_that_takes_too_long_leaves_the_job_alone(app):
    job = await app.enqueue("work", 1)
    with pytest.raises(ResultTimeout, match="it goes on"):
        await app.result(job.id, timeout=0.05)
    async with working(app):
        assert await app.result(job.id, timeout=20) == 1


async def test_result_of_another_process_comes_without_a_poll(app, opened):
    other = await opened()
    gate = Gate()

    @app.operation("held", queue="q")
    async def held(ctx):
        await gate.wait()
        return "here"

    job = await app.enqueue("held")
    waiting = asyncio.create_task(other.result(job.id, timeout=20))
    async with working(app):
        await gate.until_reached()
        gate.open()
        assert await waiting == "here"


async def test_a_job_that_is_not_there_is_said_to_be_missing(app):
    with pytest.raises(JobNotFound, match=NOBODY):
        await app.get(NOBODY)
    for call in (app.get, app.cancel, app.requeue, app.explain, app.delete, app.steps, app.payload):
        with pytest.raises(JobNotFound, match="is not a job id"):
            await call("not-an-id")


async def test_lists_filter_by_state_operation_queue_tenant_and_parent(app):
    @app.operation("parent", queue="q")
    async def parent(ctx):
        await ctx.gather("work", ["a", "fail", "b"], partial_ok=True)

    @app.operation("other", queue="elsewhere")
    async def other(ctx): ...

    family = await app.enqueue("parent", tenant="alice")
    waiting = await app.enqueue("other", tenant="alice")
    async with working(app, "q"):
        await ended(app, family)

    async def ids(**filters):
        return [job.id for job in await app.list(**filters)]

    children = await app.list(parent=family.id)
    assert [job.payload for job in children] == ["b", "fail", "a"]  # newest first
    assert await ids(state="failed") == [children[1].id]
    assert await ids(state=State.QUEUED) == await ids(queue="elsewhere") == await ids(operation="other") == [waiting.id]
    assert set(await ids(tenant="alice")) == {family.id, waiting.id, *(job.id for job in children)}
    assert await ids(tenant="alice", state="succeeded", operation="work") == [children[0].id, children[2].id]
    assert await ids(parent=family.id, state="failed") == [children[1].id]
    assert await ids(parent=family.id, operation="work", queue="q", tenant="alice") == [job.id for job in children]
    for other in ({"operation": "other"}, {"queue": "elsewhere"}, {"tenant": "bob"}):
        assert await ids(parent=family.id, **other) == [], other
    assert await ids(tenant="bob") == []


async def test_pages_follow_each_other_without_gap_or_repetition(app):
    jobs = await app.enqueue_many([{"operation": "work", "payload": n} for n in range(25)])
    pages, before = [], None
    while page := await app.list(limit=10, before=before):
        pages.append([job.id for job in page])
        before = page[-1].id
        await app.enqueue("work", "new")  # what arrives meanwhile is newer than any page still to come
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [job_id for page in pages for job_id in page] == [job.id for job in reversed(jobs)]


@pytest.mark.parametrize("limit", [0, -1, 1_000_001])
async def test_a_page_has_a_sensible_size(app, limit):
    with pytest.raises(ConfigurationError, match="limit"):
        await app.list(limit=limit)


async def test_a_closed_app_says_that_it_is_closed(new_app):
    app = new_app()

    @app.operation("work")
    async def work(ctx): ...

    with pytest.raises(StoreUnavailable, match="async with app"):
        await app.enqueue("work")
    async with app:
        await app.enqueue("work")
        async with asyncio.timeout(10):
            await app.open()  # once more changes nothing
    with pytest.raises(StoreUnavailable, match="async with app"):
        await app.list()
    async with app:  # and it can be opened again
        assert len(await app.list()) == 1
