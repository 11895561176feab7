"""The subject of a job: given when it is enqueued, inherited by what it makes, asked for in lists."""

import pytest

from tests.engine.working import working
from towpath import ConfigurationError, SchemaInvalid

RECORDING = ("recording", "r 1")


async def test_operations_know_their_subject_and_what_they_make_inherits_it(app):
    seen = {}

    @app.operation("note")
    async def note(ctx, name):
        seen[name] = ctx.subject

    @app.operation("work")
    async def work(ctx):
        await ctx.gather("note", ["gathered"])
        await ctx.gather("note", ["of another"], key="2", subject=("page", "7"))
        await ctx.gather("note", ["of nothing"], key="3", subject=None)
        await ctx.spawn("note", ["spawned"])
        ctx.enqueue("note", "followed up")

    job = await app.enqueue("work", subject=RECORDING)
    assert job.subject == RECORDING
    async with working(app):
        await app.result(job.id, timeout=20)
        for made in await app.list(operation="note"):
            await app.result(made.id, timeout=20)
    assert seen == {
        "gathered": RECORDING, "of another": ("page", "7"), "of nothing": None, "spawned": RECORDING,
        "followed up": RECORDING,
    }  # fmt: skip


async def test_plain_functions_and_processes_know_it_too(app):
    from tests.engine.isolated import tell_subject

    @app.operation("threaded")
    def threaded(ctx):
        return ctx.subject

    app.operation("isolated", isolation="process")(tell_subject)
    async with working(app):
        for operation in ("threaded", "isolated"):
            job = await app.enqueue(operation, subject=RECORDING)
            assert await app.result(job.id, timeout=60) == list(RECORDING)


async def test_jobs_are_listed_by_their_subject_newest_first_page_by_page(app):
    app.operation("work")(_nothing)
    ids = [(await app.enqueue("work", subject=RECORDING)).id for _ in range(3)]
    for other in (None, ("recording", "r 2"), ("recording", "r"), ("page", "r 1"), ("a", "r 1"), ("z", "r 1")):
        await app.enqueue("work", subject=other)
    async with app.transaction() as tx:
        ids.append(await tx.enqueue("work", subject=RECORDING, tenant="alice"))

    assert [job.id for job in await app.list(subject=RECORDING)] == ids[::-1]
    assert [job.id for job in await app.list(subject=RECORDING, limit=2)] == ids[:1:-1]
    assert [job.id for job in await app.list(subject=RECORDING, before=ids[2])] == ids[1::-1]
    assert [job.id for job in await app.list(subject=RECORDING, tenant="alice")] == ids[3:]
    assert await app.list(subject=RECORDING, state="running") == []
    for other in ({"operation": "other"}, {"queue": "elsewhere"}, {"tenant": "bob"}):
        assert await app.list(subject=RECORDING, **other) == [], other
    assert await app.list(subject=RECORDING, parent=ids[0]) == []
    assert await app.list(subject=("recording", "r 3")) == []


async def test_a_subject_is_a_name_and_a_label(app):
    app.operation("work")(_nothing)
    for wrong in ("recording", ("recording",), ("recording", 5), ("recording", ""), ("recording", "a\0b")):
        with pytest.raises(SchemaInvalid, match="subject"):
            await app.enqueue("work", subject=wrong)
    with pytest.raises(ConfigurationError, match="a subject's kind"):
        await app.enqueue("work", subject=("two words", "1"))
    with pytest.raises(SchemaInvalid, match="subject"):
        await app.list(subject=("recording", ""))
    assert await app.list() == []


async def _nothing(ctx):
    pass
