"""What an operation tells while it runs."""

import asyncio
import logging

import pytest

from tests.engine.working import AT_ONCE, Gate, ended, eventually, happened, history, working
from towpath import Fatal, State, Transient


async def test_progress_is_written_at_most_once_a_second_and_the_last_value_always(app):
    @app.operation("count")
    async def count(ctx):
        for n in range(1, 501):
            await ctx.progress(n, 500)
        await asyncio.sleep(0)

    job = await app.enqueue("count")
    async with working(app):
        row = await ended(app, job)
    written = await happened(app, job, "job.progress")
    assert (row.progress_current, row.progress_total) == (500, 500)
    assert [event.fields for event in written[-1:]] == [{"current": 500, "of": 500}]
    seconds = (row.finished_at - row.started_at).total_seconds()
    assert len(written) <= 2 + seconds  # the first and the last, and one a second between them


async def test_progress_is_written_by_itself_while_the_operation_is_busy_elsewhere(app):
    gate = Gate()

    @app.operation("count")
    async def count(ctx):
        await ctx.progress(1, 3)
        await ctx.progress(2)
        await gate.wait()

    job = await app.enqueue("count")
    async with working(app):
        await gate.until_reached()
        row = await eventually(lambda: _progressed(app, job, 2))
        assert (row.state, row.progress_total) == (State.RUNNING, 3)
        gate.open()
        await ended(app, job)


async def _progressed(app, job, current):
    row = await app.get(job.id)
    return row if row.progress_current == current else None


@pytest.mark.parametrize("ending", ["fails", "retries", "waits"])
async def test_the_last_progress_is_kept_however_the_entry_ends(app, ending):
    @app.operation("count", retry=AT_ONCE)
    async def count(ctx):
        if ctx.fence > 1:
            return
        for n in range(4):
            await ctx.progress(n, 10)
        if ending == "waits":
            await ctx.sleep(0)
            await ctx.sleep(60, key="long")
        raise Fatal("no") if ending == "fails" else Transient("again")

    job = await app.enqueue("count")
    async with working(app):
        await eventually(lambda: _left_the_first_entry(app, job))
    row = await app.get(job.id)
    assert (row.progress_current, row.progress_total) == (3, 10)


async def _left_the_first_entry(app, job):
    row = await app.get(job.id)
    return row.attempt > 1 or row.state in ("failed", "waiting")


@pytest.mark.parametrize("bad", [(-1, None), (float("nan"), None), (3, 2), (1, float("inf"))])
async def test_progress_that_makes_no_sense_is_refused(app, bad):
    @app.operation("count")
    async def count(ctx):
        with pytest.raises(ValueError, match="progress"):
            await ctx.progress(*bad)
        return "refused"

    job = await app.enqueue("count")
    async with working(app):
        assert (await ended(app, job)).result == "refused"


async def test_progress_never_passes_its_total(app):
    @app.operation("count")
    async def count(ctx):
        await ctx.progress(1, 3)
        with pytest.raises(ValueError, match="progress"):
            await ctx.progress(4)
        return "refused"

    job = await app.enqueue("count")
    async with working(app):
        row = await ended(app, job)
    assert (row.result, row.progress_current, row.progress_total) == ("refused", 1, 3)


async def test_progress_can_ride_on_events_and_results(app):
    gate = Gate()

    @app.operation("fields")
    async def fields(ctx):
        await ctx.emit("page.read", "page 2", fields={"page": 2, "_progress_current": 2, "_progress_total": 5})
        await gate.wait()
        return {"pages": 5, "_progress_current": 5}

    job = await app.enqueue("fields")
    async with working(app):
        await gate.until_reached()
        row = await app.get(job.id)
        assert (row.progress_current, row.progress_total) == (2, 5)
        gate.open()
        row = await ended(app, job)
    assert (row.progress_current, row.progress_total) == (5, 5)
    [event] = await happened(app, job, "page.read")
    assert (event.message, event.fields["page"]) == ("page 2", 2)


@pytest.mark.parametrize("value", ["two", None, True, [1], -3])
async def test_progress_in_fields_that_is_no_progress_is_left_alone(app, value):
    @app.operation("fields")
    async def fields(ctx):
        await ctx.emit("odd", fields={"_progress_current": value, "_progress_total": 7})
        return {"_progress_current": value}

    job = await app.enqueue("fields")
    async with working(app):
        row = await ended(app, job)
    assert row.state is State.SUCCEEDED
    assert row.progress_current is None
    assert row.progress_total == 7


async def test_an_event_is_durable_even_if_the_operation_fails(app):
    seen = []

    @app.operation("tell")
    async def tell(ctx):
        await ctx.emit("page.read", "first page", level="warning", fields={"page": 1})
        seen.extend(await happened(app, ctx.id, "page.read"))
        raise Fatal("no")

    job = await app.enqueue("tell")
    async with working(app):
        await ended(app, job)
    assert [(event.name, event.level, event.message, event.fields) for event in seen] == [
        ("page.read", "warning", "first page", {"page": 1})
    ]
    [event] = await happened(app, job, "page.read")
    assert (event.seq, event.attempt) == (seen[0].seq, 1)


@pytest.mark.parametrize(
    ("name", "level"),
    [("job.succeeded", "info"), ("step.completed", "info"), ("", "info"), ("a\x00b", "info"), ("fine", "loud")],
)
async def test_the_names_of_the_engine_and_unknown_levels_are_refused(app, name, level):
    @app.operation("tell")
    async def tell(ctx):
        with pytest.raises(ValueError, match=r"event name|level"):
            await ctx.emit(name, level=level)
        return "refused"

    job = await app.enqueue("tell")
    async with working(app):
        assert (await ended(app, job)).result == "refused"
    assert [event.name for event in await history(app, job)] == ["job.created", "job.started", "job.succeeded"]


async def test_ordinary_logging_appears_among_the_events(app):
    logger = logging.getLogger("somebody.elses.library")
    logger.setLevel(logging.INFO)

    @app.operation("talk")
    async def talk(ctx):
        logger.info("read %d pages", 3)
        await asyncio.to_thread(logger.warning, "from a thread")
        logger.error("bad\x00 news \ud800")
        logger.debug("not this")

    @app.operation("talk.sync")
    def talk_sync(ctx):
        logging.getLogger("towpathfinder").warning("plain function")

    jobs = [await app.enqueue(name) for name in ("talk", "talk.sync")]
    async with working(app), working(app):  # two workers in one process do not double it
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
        logger.warning("outside of any job")
    told = [(event.level, event.message, event.fields["logger"]) for event in await happened(app, jobs[0], "log")]
    assert told == [
        ("info", "read 3 pages", logger.name),
        ("warning", "from a thread", logger.name),
        ("error", "bad␀ news ?", logger.name),
    ]
    assert [event.message for event in await happened(app, jobs[1], "log")] == ["plain function"]


async def test_a_log_line_that_cannot_be_formatted_does_not_break_the_operation(app, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)

    @app.operation("talk")
    async def talk(ctx):
        logging.getLogger("somebody").warning("%d pages", "three")
        return "fine"

    job = await app.enqueue("talk")
    async with working(app):
        assert (await ended(app, job)).result == "fine"


async def test_children_share_their_progress_with_a_parent_that_counts_in_something_else(app):
    seen = []

    @app.operation("listen")
    async def listen(ctx, seconds):
        for done in range(0, seconds + 1, 10):
            await ctx.progress(done, seconds)
            await ctx.share_progress()
            seen.append((await app.get(ctx.parent_id)).progress_current)

    @app.operation("recording")
    async def recording(ctx):
        await ctx.step("measure", ctx.progress, 0, 50)  # a step: entered again, it must not begin at zero
        await ctx.gather("listen", [20, 30])

    job = await app.enqueue("recording")
    async with working(app, concurrency=1):
        row = await ended(app, job)
    assert seen == [0, 10, 20, 20, 30, 40, 50]
    assert (row.state, row.progress_current, row.progress_total) == ("succeeded", 50, 50)
    await history(app, job)  # folding the events gives the row


async def test_sharing_progress_with_a_parent_that_counts_its_children_changes_nothing(app):
    @app.operation("listen")
    async def listen(ctx):
        await ctx.progress(7, 10)
        await ctx.share_progress()

    @app.operation("recording")
    async def recording(ctx):
        await ctx.gather("listen", [None, None])

    job, alone = await app.enqueue("recording"), await app.enqueue("listen")
    async with working(app):
        row = await ended(app, job)
        assert (await ended(app, alone)).state == "succeeded"
    assert (row.progress_current, row.progress_total) == (2, 2)
