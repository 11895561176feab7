"""Whatever people pass in: a clear error for that job, and nothing lost for its neighbours."""

import asyncio
import math

import pytest

from tests.engine.working import ended, happened, working
from towpath import ConfigurationError, EncodingError, Fatal, PayloadTooLarge, SchemaInvalid, State


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


@pytest.fixture
def app(app):
    @app.operation("echo")
    async def echo(ctx, payload):
        return payload

    return app


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ({"pages": [1, {"score": math.nan}]}, "$.pages[1].score"),
        ({"score": math.inf}, "$.score"),
        ({"text": "lone \ud800 surrogate"}, "$.text"),
        ({"thing": object()}, "$.thing"),
        ({(1, 2): "tuple as key"}, "$"),
        ({"$blob": "jobs/somebody-elses/payload"}, "$blob"),
    ],
)
async def test_a_payload_that_json_cannot_carry_is_refused_with_its_path(app, payload, path):
    @app.operation("typed")
    async def typed(ctx, payload: dict): ...

    for operation in ("echo", "typed"):
        with pytest.raises(EncodingError) as refused:
            await app.enqueue(operation, payload)
        assert path in str(refused.value)
    assert await app.list() == []


async def test_a_payload_that_refers_to_itself_is_refused(app):
    endless = {}
    endless["me"] = endless
    with pytest.raises(EncodingError, match="refers to itself"):
        await app.enqueue("echo", endless)


async def test_nul_characters_pass_through_unharmed(app):
    text = "transcript\x00with NUL, \u2028 and 𝄞"
    job = await app.enqueue("echo", {"text": text, "nested": [text]}, key="k", tenant="größe")
    async with working(app):
        assert await app.result(job.id, timeout=10) == {"text": text, "nested": [text]}
    assert (await app.get(job.id)).payload["text"] == text


async def test_fifty_megabytes_are_refused_clearly(app):
    with pytest.raises(PayloadTooLarge, match=r"52,428,802 bytes, the limit is 16,777,216.*blobs"):
        await app.enqueue("echo", "x" * 50 * 2**20)
    assert await app.list() == []


async def test_a_result_that_is_too_large_fails_its_job(opened):
    app = await opened(max_payload_bytes=1000)

    @app.operation("grow")
    async def grow(ctx, n):
        return "é" * n  # two bytes each

    fits, too_large = await app.enqueue("grow", 499), await app.enqueue("grow", 500)
    async with working(app):
        assert (await ended(app, fits)).state is State.SUCCEEDED
        row = await ended(app, too_large)
    assert (row.state, row.error["error_class"], row.failures) == (State.FAILED, "PayloadTooLarge", 1)


@pytest.mark.parametrize(
    "result",
    [object(), math.nan, "\ud800", {1: {2, "x"}}, {"$blob": "x"}],
    ids=["object", "nan", "lone surrogate", "mixed set", "reserved key"],
)
async def test_a_result_that_cannot_be_encoded_fails_its_job_and_no_neighbour(app, result):
    together = asyncio.Barrier(6)

    @app.operation("give")
    async def give(ctx, bad):
        await together.wait()  # all six end in the same moment, so that they are settled in one batch
        return result if bad else "fine"

    jobs = [await app.enqueue("give", n == 3) for n in range(6)]
    async with working(app, concurrency=6):
        rows = [await ended(app, job) for job in jobs]
    assert [row.state.value for row in rows] == ["succeeded"] * 3 + ["failed"] + ["succeeded"] * 2
    assert (rows[3].error["kind"], rows[3].error["error_class"]) == ("fatal", "EncodingError")
    assert "the result of give" in rows[3].error["message"]


@pytest.mark.parametrize(
    "error",
    [
        Fatal("bad \x00 news \ud800", remedy="try \x00 again"),
        SchemaInvalid("\x00", path="a\x00b\udcff"),
        ValueError("x" * 100_000),
        Unspeakable(),
        Fatal(""),
    ],
    ids=["nul", "path", "long", "unspeakable", "silent"],
)
@pytest.mark.parametrize("inside", ["operation", "step"])
async def test_any_error_can_be_recorded_and_no_neighbour_suffers(app, error, inside):
    together = asyncio.Barrier(3)

    @app.operation("fails", max_attempts=1)
    async def fails(ctx, bad):
        async def body():
            if bad:
                raise error

        await together.wait()
        await (ctx.step("body", body) if inside == "step" else body())
        return "fine"

    jobs = [await app.enqueue("fails", bad) for bad in (False, True, False)]
    async with working(app):
        rows = [await ended(app, job) for job in jobs]
    assert [row.state.value for row in rows] == ["succeeded", "failed", "succeeded"]
    assert rows[1].error["error_class"] == type(error).__name__
    assert 0 < len(rows[1].error["message"]) <= 2000
    assert rows[1].error_kind
    assert len(await app.inbox.jobs()) == 1


async def test_bad_events_are_refused_where_they_are_made_and_no_neighbour_suffers(app):
    together = asyncio.Barrier(4)
    refused = []

    @app.operation("tell")
    async def tell(ctx, n):
        await together.wait()
        bad = [{"fields": {"n": math.nan}}, {"fields": {"text": "\ud800"}}, {"fields": {"thing": object()}}]
        if n < 3:
            with pytest.raises(EncodingError) as error:
                await ctx.emit("bad", **bad[n])
            refused.append(str(error.value))
        await ctx.emit("good", "NUL \x00 and \ud800", fields={"text": "\x00"})

    jobs = [await app.enqueue("tell", n) for n in range(4)]
    async with working(app):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
            [event] = await happened(app, job, "good")
            assert (event.message, event.fields) == ("NUL ␀ and ?", {"text": "\x00"})
            assert await happened(app, job, "bad") == []
    assert len(refused) == 3


@pytest.mark.parametrize("name", ["", "a\x00b", "\ud800", "x" * 501, None, 7])
async def test_bad_names_of_tenants_lanes_keys_and_signals_are_refused(app, name):
    options = [{"tenant": name}, {"lane": name}, {"key": name}]
    for option in options[:1] if name is None else options:
        with pytest.raises(SchemaInvalid) as refused:
            await app.enqueue("echo", **option)
        assert refused.value.path == next(iter(option))
    job = await app.enqueue("echo")
    with pytest.raises(SchemaInvalid, match="signal"):
        await app.signal(job.id, name)
    assert len(await app.list()) == 1


@pytest.mark.parametrize("name", ["", "a b", "q\n", "\x00", "x" * 201, "-q", None])
async def test_bad_names_of_queues_and_operations_are_refused(app, name):
    with pytest.raises(ConfigurationError):
        app.operation(name)(lambda ctx: None)
    with pytest.raises(ConfigurationError):
        app.operation("fine", queue=name)(lambda ctx: None)
    with pytest.raises(ConfigurationError):
        await app.queues.pause(name)
    if name is not None:
        with pytest.raises(ConfigurationError):
            await app.enqueue("echo", queue=name)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("priority", 4),
        ("priority", "high"),
        ("cost", 0),
        ("cost", math.nan),
        ("cost", "much"),
        ("max_attempts", 0),
        ("max_attempts", 1.5),
        ("delay", -1),
        ("delay", math.inf),
        ("delay", 1e15),
        ("delay", "soon"),
        ("run_at", "tomorrow"),
        ("trace", "a\x00b"),
        ("trace", 7),
    ],
)
async def test_options_that_make_no_sense_are_refused_by_name(app, option, value):
    with pytest.raises(SchemaInvalid) as refused:
        await app.enqueue("echo", **{option: value})
    assert refused.value.path == option
    assert await app.list() == []


async def test_bad_names_inside_an_operation_are_its_own_failure(app):
    @app.operation("names", max_attempts=1)
    async def names(ctx, which):
        calls = {
            "step": lambda: ctx.step("a\x00b", lambda: 1),
            "key": lambda: ctx.step("fine", lambda: 1, key="\ud800"),
            "signal": lambda: ctx.wait_for("a\x00b", timeout=1),
        }
        await calls[which]()

    jobs = [await app.enqueue("names", which) for which in ("step", "key", "signal")]
    async with working(app):
        for job in jobs:
            row = await ended(app, job)
            assert row.state is State.FAILED
            assert "valid text" in row.error["message"]


async def test_a_meter_that_is_no_number_fails_its_own_job(app):
    @app.operation("metered")
    async def metered(ctx, inside):
        async def spend():
            await ctx.meter(model="m", cost_cents=math.nan)

        await (ctx.step("spend", spend) if inside else spend())

    jobs = [await app.enqueue("metered", inside) for inside in (True, False)]
    async with working(app):
        for job in jobs:
            row = await ended(app, job)
            assert (row.state, row.error["error_class"]) == (State.FAILED, "EncodingError")
    assert not any(step.done for step in await app.steps(jobs[0].id))


async def test_a_reason_for_a_cancel_may_say_anything(app):
    job = await app.enqueue("echo")
    assert await app.cancel(job.id, "why \x00 not \ud800" + "!" * 10_000)
    [event] = await happened(app, job, "job.cancelled")
    assert event.message.startswith("why ␀ not ?!")
    assert len(event.message) == 4000
