"""Steps run once per job, whatever happens around them."""

import asyncio
import threading

import pytest

from tests.engine.crashing import register
from tests.engine.working import AT_ONCE, ended, eventually, happened, working
from towpath import Fatal, State, Transient


async def test_a_recorded_step_is_not_run_again_by_a_retry(app):
    ran = []

    @app.operation("work", retry=AT_ONCE)
    async def work(ctx):
        async def extract(n, *, unit):
            ran.append("extract")
            return {"pages": (n, unit)}  # what comes back is what JSON makes of it, also the first time

        first = await ctx.step("extract", extract, 3, unit="A4")
        assert first == {"pages": [3, "A4"]}
        if ctx.attempt < 3:
            raise Transient("between the steps")
        return await ctx.step("count", lambda: len(first["pages"]))

    job = await app.enqueue("work")
    async with working(app):
        assert await app.result(job.id, timeout=20) == 2
    assert ran == ["extract"]
    assert [(step.name, step.kind, step.done) for step in await app.steps(job.id)] == [
        ("extract", "step", True),
        ("count", "step", True),
    ]


async def test_a_recorded_step_is_not_run_again_after_a_crash(opened, crashed_worker, tmp_path):
    app = await opened(lease_seconds=0.5)
    register(app, crash=False)
    notes = tmp_path / "notes"
    job = await app.enqueue("work", {"file": str(notes)})
    await crashed_worker(lease_seconds=0.5)
    row = await app.get(job.id)
    assert (row.state, row.leased) == (State.RUNNING, True)
    async with working(app):
        assert await app.result(job.id, timeout=20) == "before"
    assert notes.read_text() == "before\nafter\n"
    assert [(step.name, step.attempt) for step in await app.steps(job.id)] == [("before", 1), ("after", 2)]
    assert len(await happened(app, job, "job.rescued")) == 1


async def test_a_plain_function_runs_as_a_step_in_a_thread(app):
    threads = []

    @app.operation("work")
    async def work(ctx):
        def blocking(text):
            threads.append(threading.current_thread())
            return text.upper()

        async def awaited():
            return "awaited"

        def gives_a_coroutine():
            return awaited()

        return [await ctx.step("one", blocking, "loud"), await ctx.step("two", gives_a_coroutine)]

    job = await app.enqueue("work")
    async with working(app):
        assert await app.result(job.id, timeout=10) == ["LOUD", "awaited"]
    assert threads[0] is not threading.main_thread()


async def test_a_step_name_used_twice_is_an_error_that_names_the_fix(app):
    @app.operation("twice")
    async def twice(ctx):
        for _ in range(2):
            await ctx.step("page", lambda: 1)

    @app.operation("keyed")
    async def keyed(ctx):
        return [await ctx.step("page", lambda n=n: n, key=str(n)) for n in range(3)]

    jobs = [await app.enqueue(name) for name in ("twice", "keyed")]
    async with working(app):
        failed, good = [await ended(app, job) for job in jobs]
    assert failed.error["error_class"] == "StepNameReused"
    assert "'page'" in failed.error["message"]
    assert "key=" in failed.error["message"]
    assert failed.failures == 1
    assert good.result == [0, 1, 2]
    assert [step.name for step in await app.steps(good.id)] == ["page:0", "page:1", "page:2"]


async def test_a_failing_step_is_retried_and_its_retries_are_counted(app):
    @app.operation("work", retry=AT_ONCE)
    async def work(ctx):
        async def flaky():
            await ctx.meter(tokens_in=1)
            if ctx.attempt < 3:
                raise Transient(f"try {ctx.attempt}")
            return "ok"

        return await ctx.step("flaky", flaky)

    job = await app.enqueue("work")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "ok"
    [step] = await app.steps(job.id)
    assert (step.retries, step.done, step.attempt, step.tokens_in) == (2, True, 3, 1)
    assert step.duration_ms is not None
    failures = await happened(app, job, "step.failed")
    assert [(event.fields["retries"], event.message, event.fields["kind"]) for event in failures] == [
        (1, "try 1", "transient"),
        (2, "try 2", "transient"),
    ]
    [completed] = await happened(app, job, "step.completed")
    assert completed.fields["retries"] == 2


async def test_what_a_step_used_is_part_of_its_record(app):
    @app.operation("work")
    async def work(ctx):
        async def ask():
            await ctx.meter(model="large", tokens_in=100, tokens_out=5, cost_cents=0.5)
            await ctx.meter(tokens_in=20, cost_cents=0.25)

        def in_a_thread():
            return None

        await ctx.step("ask", ask)
        await ctx.step("plain", in_a_thread)
        await ctx.meter(model="small", tokens_out=7)

    job = await app.enqueue("work")
    async with working(app):
        await app.result(job.id, timeout=10)
    ask, plain = await app.steps(job.id)
    assert (ask.model, ask.tokens_in, ask.tokens_out, ask.cost_cents) == ("large", 120, 5, 0.75)
    assert (plain.model, plain.tokens_in, plain.tokens_out, plain.cost_cents) == (None, None, None, None)
    completed = [event.fields for event in await happened(app, job, "step.completed")]
    assert completed[0]["tokens_in"] == 120
    assert completed[0]["model"] == "large"
    [metered] = await happened(app, job, "job.metered")
    assert metered.fields == {"model": "small", "tokens_out": 7}


async def test_independent_steps_run_side_by_side(app):
    """Each of the three waits until all three have begun."""
    begun = set()

    @app.operation("work")
    async def work(ctx):
        async def wait_for_the_others(n):
            begun.add(n)
            await eventually(lambda: len(begun) == 3)
            await ctx.meter(tokens_in=n)
            return n * 10

        return await ctx.parallel(*(ctx.step("part", wait_for_the_others, n, key=str(n)) for n in (1, 2, 3)))

    job = await app.enqueue("work")
    async with working(app):
        assert await app.result(job.id, timeout=20) == [10, 20, 30]
    assert sorted((step.name, step.tokens_in) for step in await app.steps(job.id)) == [
        ("part:1", 1),
        ("part:2", 2),
        ("part:3", 3),
    ]


async def test_all_parallel_steps_finish_even_when_one_fails(app):
    ran = []

    @app.operation("work", retry=AT_ONCE)
    async def work(ctx):
        failing = asyncio.Event()

        async def fails():
            ran.append("fails")
            failing.set()
            if ctx.attempt == 1:
                raise Transient("the first of them")
            return "fixed"

        async def slower():
            ran.append("slower")
            await failing.wait()
            await asyncio.sleep(0.05)
            return "slower"

        return await ctx.parallel(ctx.step("fails", fails), ctx.step("slower", slower))

    job = await app.enqueue("work")
    async with working(app):
        assert await app.result(job.id, timeout=20) == ["fixed", "slower"]
    assert sorted(ran) == ["fails", "fails", "slower"]


async def test_a_step_without_a_worker_keeps_nothing_of_a_lost_attempt(app):
    """A cancelled job's step may finish its work; its record never appears."""
    finished = asyncio.Event()

    @app.operation("work")
    async def work(ctx):
        async def stubborn():
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                finished.set()
                return "too late"

        await ctx.step("stubborn", stubborn)

    job = await app.enqueue("work")
    async with working(app):
        await eventually(lambda: happened(app, job, "step.started"))
        await app.cancel(job.id)
        await asyncio.wait_for(finished.wait(), 20)
        await eventually(lambda: _unleased(app, job))
    assert await app.steps(job.id) == []
    assert [event.name for event in await happened(app, job, "job.cancelled")] == ["job.cancelled"]


async def _unleased(app, job):
    return not (await app.get(job.id)).leased


async def test_large_outputs_go_to_the_blob_store_and_come_back(opened):
    app = await opened(inline_bytes=1000)
    ran = []

    @app.operation("work", retry=AT_ONCE)
    async def work(ctx, payload):
        async def big():
            ran.append(1)
            return "y" * 5000

        text = await ctx.step("big", big)
        if ctx.attempt == 1:
            raise Transient("read it back")
        return payload["text"] + text

    job = await app.enqueue("work", {"text": "x" * 5000})
    async with working(app):
        assert await app.result(job.id, timeout=10) == "x" * 5000 + "y" * 5000
    row = await app.get(job.id)
    [step] = await app.steps(job.id)
    for text in (row.payload_json, row.result_json, step.output_json):
        assert len(text) < 500
        assert "$blob" in text
    assert await app.payload(job.id) == {"text": "x" * 5000}
    assert ran == [1]


@pytest.mark.parametrize("inside", ["step", "parallel"])
@pytest.mark.parametrize("wait", ["sleep", "gather", "spawn", "wait_for"])
async def test_waits_are_refused_where_the_job_cannot_be_suspended(app, inside, wait):
    @app.operation("work")
    async def work(ctx):
        waits = {
            "sleep": lambda: ctx.sleep(1),
            "gather": lambda: ctx.gather("work", [None]),
            "spawn": lambda: ctx.spawn("work", [None]),
            "wait_for": lambda: ctx.wait_for("go"),
        }
        if inside == "step":
            await ctx.step("outer", waits[wait])
        else:
            await ctx.parallel(waits[wait](), ctx.step("fine", lambda: 1))

    job = await app.enqueue("work")
    async with working(app):
        row = await ended(app, job)
    assert (row.state, row.error["error_class"], row.failures) == (State.FAILED, "WaitRefused", 1)
    assert wait in row.error["message"]
    assert len(await app.list()) == 1


async def test_a_step_that_ends_the_job_leaves_the_steps_before_it_on_record(app):
    @app.operation("work")
    async def work(ctx):
        await ctx.step("kept", lambda: "kept")

        def fatal():
            raise Fatal("no way")

        await ctx.step("fatal", fatal)

    job = await app.enqueue("work")
    async with working(app):
        await ended(app, job)
    assert [(step.name, step.done) for step in await app.steps(job.id)] == [("kept", True), ("fatal", False)]
