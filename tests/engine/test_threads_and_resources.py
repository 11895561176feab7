"""Plain functions in threads, and what is opened once per worker."""

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager

import pytest

from tests.engine.working import AT_ONCE, Gate, ended, eventually, happened, in_state, working
from towpath import State, Transient


async def test_a_plain_function_gets_the_same_words_blocking(app):
    @app.operation("next", queue="unserved")
    async def following(ctx, payload): ...

    @app.operation("thread", queue="served")
    def in_thread(ctx, payload):
        assert threading.current_thread() is not threading.main_thread()
        ctx.emit("page.read", "one", level="warning", fields={"n": 1})
        ctx.progress(1, 4)
        ctx.meter(model="small", tokens_in=3)
        ctx.enqueue("next", {"after": ctx.id})
        return [ctx.id, ctx.operation, ctx.tenant, ctx.attempt, ctx.cancelled, payload]

    job = await app.enqueue("thread", {"a": 1}, tenant="alice")
    async with working(app, "served"):
        result = await app.result(job.id, timeout=10)
    assert result == [job.id, "thread", "alice", 1, False, {"a": 1}]
    row = await app.get(job.id)
    assert (row.progress_current, row.progress_total) == (1, 4)
    assert [(e.message, e.level, e.fields) for e in await happened(app, job, "page.read")] == [("one", "warning", {"n": 1})]
    assert [e.fields for e in await happened(app, job, "job.metered")] == [{"model": "small", "tokens_in": 3}]
    assert [follower.payload for follower in await app.list(operation="next")] == [{"after": job.id}]


async def test_plain_functions_run_side_by_side_and_do_not_block_the_others(app):
    together = threading.Barrier(3, timeout=20)

    @app.operation("thread")
    def in_thread(ctx):
        together.wait()
        return "met"

    @app.operation("coroutine")
    async def coroutine(ctx):
        return "through"

    jobs = [await app.enqueue("thread") for _ in range(2)]
    async with working(app, concurrency=3):
        await asyncio.gather(*(in_state(app, job, "running") for job in jobs))
        assert await app.result((await app.enqueue("coroutine")).id, timeout=10) == "through"
        await asyncio.to_thread(together.wait)
        assert [await app.result(job.id, timeout=20) for job in jobs] == ["met", "met"]


async def test_many_plain_steps_run_side_by_side_and_leave_room_for_the_engine(opened):
    """More than asyncio has threads of its own, which the blob store needs meanwhile."""
    app = await opened(inline_bytes=10)
    together = threading.Barrier(41, timeout=20)

    @app.operation("steps")
    async def steps(ctx):
        await ctx.parallel(*(ctx.step("meet", together.wait, key=str(n)) for n in range(40)))
        return "x" * 100

    @app.operation("blob")
    async def blob(ctx):
        return "y" * 100

    job = await app.enqueue("steps")
    async with working(app):
        await eventually(lambda: together.n_waiting == 40)
        assert await app.result((await app.enqueue("blob")).id, timeout=10) == "y" * 100
        await asyncio.to_thread(together.wait)
        assert await app.result(job.id, timeout=20) == "x" * 100


async def test_a_plain_functions_error_is_retried_like_any_other(app):
    @app.operation("thread", retry=AT_ONCE)
    def in_thread(ctx):
        if ctx.attempt < 3:
            raise Transient("again")
        return ctx.attempt

    job = await app.enqueue("thread")
    async with working(app):
        assert await app.result(job.id, timeout=20) == 3


async def test_a_resource_is_opened_once_per_worker_and_closed_with_it(app):
    log = []

    @app.resource("model")
    @asynccontextmanager
    async def model():
        log.append("open model")
        yield "loaded"
        log.append("close model")

    @app.resource("client")
    @contextmanager
    def client():
        log.append("open client")
        yield "connected"
        log.append("close client")

    @app.resource("number")
    def number():
        log.append("make number")
        return 7

    @app.operation("use")
    async def use(ctx):
        return [await ctx.resources.get(name) for name in ("model", "client", "number")]

    @app.operation("use.sync")
    def use_sync(ctx):
        return ctx.resources.get("model")

    async with working(app):
        jobs = [await app.enqueue("use") for _ in range(5)]
        for job in jobs:
            assert await app.result(job.id, timeout=10) == ["loaded", "connected", 7]
        assert await app.result((await app.enqueue("use.sync")).id, timeout=10) == "loaded"
        assert sorted(log) == ["make number", "open client", "open model"]
    assert log[-2:] == ["close client", "close model"]
    assert len(log) == 5
    async with working(app):
        assert await app.result((await app.enqueue("use.sync")).id, timeout=10) == "loaded"
    assert log[-2:] == ["open model", "close model"]


async def test_a_resource_stays_open_while_another_worker_of_the_process_uses_it(app):
    closed, gate = [], Gate()

    @app.resource("model")
    @asynccontextmanager
    async def model():
        yield "loaded"
        closed.append(True)

    @app.operation("use", queue="use")
    async def use(ctx):
        await ctx.resources.get("model")
        await gate.wait()
        return bool(closed)

    async with working(app, "use"):
        job = await app.enqueue("use")
        async with working(app, "other"):
            await gate.until_reached()
        gate.open()
        assert await app.result(job.id, timeout=10) is False
    assert closed == [True]


async def test_a_resource_that_cannot_be_opened_fails_the_job_and_is_tried_again(app):
    tries = []

    @app.resource("model")
    async def model():
        tries.append(1)
        if len(tries) < 3:
            raise Transient("no GPU free")
        return "loaded"

    @app.operation("use", retry=AT_ONCE)
    async def use(ctx):
        return await ctx.resources.get("model")

    job = await app.enqueue("use")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "loaded"
    assert len(tries) == 3


async def test_an_unknown_resource_is_named_together_with_the_known_ones(app):
    @app.resource("model")
    def model(): ...

    @app.operation("use", max_attempts=1)
    async def use(ctx):
        await ctx.resources.get("modle")

    job = await app.enqueue("use")
    async with working(app):
        row = await ended(app, job)
    assert row.state is State.FAILED
    assert "'modle' (known: model)" in row.error["message"]


@pytest.mark.parametrize("kind", ["coroutine", "thread"])
async def test_jobs_wait_for_a_resource_that_is_being_opened(app, kind):
    opening, release = threading.Event(), threading.Event()

    @app.resource("model")
    def model():
        opening.set()
        release.wait(20)
        return object()

    seen = set()

    @app.operation("coroutine")
    async def in_loop(ctx):
        seen.add(await ctx.resources.get("model"))

    @app.operation("thread")
    def in_thread(ctx):
        seen.add(ctx.resources.get("model"))

    jobs = [await app.enqueue(kind) for _ in range(3)]
    async with working(app):
        await eventually(opening.is_set)
        release.set()
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert len(seen) == 1
