"""What becomes of a job whose operation fails, category by category."""

import pytest

from tests.engine.working import AT_ONCE, ended, eventually, happened, in_state, working
from towpath import Fatal, JobFailed, Retry, RetryLater, SchemaInvalid, State, Transient, outcome_from_envelope


class VendorDown(Exception):
    pass


class VendorQuotaGone(VendorDown):
    pass


async def test_a_transient_error_is_retried_until_it_works(app):
    tries = []

    @app.operation("flaky", retry=AT_ONCE)
    async def flaky(ctx):
        tries.append(ctx.attempt)
        if ctx.attempt < 3:
            raise Transient("not yet")
        return "done"

    job = await app.enqueue("flaky")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "done"
    assert tries == [1, 2, 3]
    row = await app.get(job.id)
    assert (row.failures, row.error) == (2, None)
    retries = await happened(app, job, "job.retry_scheduled")
    assert [(event.fields["failures"], event.message, event.level) for event in retries] == [
        (1, "not yet", "warning"),
        (2, "not yet", "warning"),
    ]


async def test_a_transient_error_ends_in_the_inbox_at_the_cap(app):
    tries = []

    @app.operation("broken", retry=AT_ONCE)
    async def broken(ctx):
        tries.append(ctx.attempt)
        raise Transient("no answer from 10.0.0.7", remedy="wake the other side")

    job = await app.enqueue("broken")
    fewer = await app.enqueue("broken", max_attempts=1)
    async with working(app):
        with pytest.raises(JobFailed, match=r"no answer from 10\.0\.0\.7") as failed:
            await app.result(job.id, timeout=20)
        assert (await ended(app, fewer)).failures == 1
    assert sorted(tries) == [1, 1, 2, 3]
    expected = {
        "kind": "transient",
        "error_class": "Transient",
        "message": "no answer from 10.0.0.7",
        "remedy": "wake the other side",
    }
    assert failed.value.failure == expected
    [event] = await happened(app, job, "job.failed")
    assert event.fields == expected | {"failures": 3}
    assert (event.level, event.message) == ("error", expected["message"])
    assert {found.id for found in await app.inbox.jobs()} == {job.id, fewer.id}


async def test_the_backoff_grows_and_is_kept_on_the_row(app):
    @app.operation("slow", retry=Retry(limit=5, base=100, factor=3, max_delay=200, jitter=False))
    async def slow(ctx):
        raise Transient("later")

    job = await app.enqueue("slow")
    async with working(app):
        delays = []
        for failures in (1, 2, 3):

            async def failed(n=failures):
                row = await app.get(job.id)
                return row if row.failures == n else None

            row = await eventually(failed)
            [*_, event] = await happened(app, job, "job.retry_scheduled")
            delays.append(event.fields["delay"])
            assert row.reason == "retry"
            assert (row.run_at - event.ts).total_seconds() == pytest.approx(delays[-1], abs=0.01)
            await _make_due(app, job)
    assert delays == [100, 200, 200]


async def _make_due(app, job):
    async with app.transaction() as tx:
        dialect = app.services.store.dialect
        if dialect == "sqlite":
            await tx.execute("UPDATE towpath_job SET run_at = 1 WHERE id = ?", job.id)
        else:
            await tx.execute("UPDATE towpath.job SET run_at = now() WHERE id = $1", job.id)


@pytest.mark.parametrize(
    ("error", "kind", "name"),
    [
        (SchemaInvalid("must be a date", path="invoice.date"), "schema_invalid", "SchemaInvalid"),
        (Fatal("the page is blank"), "fatal", "Fatal"),
        (KeyError("colour"), "transient", "KeyError"),
        (TypeError("len() of None"), "fatal", "TypeError"),
        (FileNotFoundError("scan.pdf"), "fatal", "FileNotFoundError"),
    ],
)
async def test_every_failure_says_its_kind_class_message_and_what_to_do(app, error, kind, name):
    tries = []

    @app.operation("fails", retry=AT_ONCE)
    async def fails(ctx):
        tries.append(ctx.attempt)
        raise error

    job = await app.enqueue("fails")
    async with working(app):
        row = await ended(app, job)
    assert row.state is State.FAILED
    assert len(tries) == (3 if kind == "transient" else 1)
    assert (row.error["kind"], row.error["error_class"]) == (kind, name)
    assert row.error["message"] == ("KeyError: 'colour'" if isinstance(error, KeyError) else str(error))
    assert row.error["remedy"]
    assert row.error.get("path") == getattr(error, "path", None)
    assert row.error_kind == kind


async def test_somebody_elses_exception_is_handled_as_it_was_mapped(app):
    tries = []
    app.map_exception(VendorDown, "fatal")
    app.map_exception(VendorQuotaGone, "schema_invalid")

    @app.operation("call", retry=AT_ONCE)
    async def call(ctx, payload):
        tries.append(payload)
        raise {"down": VendorDown, "quota": VendorQuotaGone}[payload](payload)

    jobs = [await app.enqueue("call", which) for which in ("down", "quota")]
    async with working(app):
        rows = [await ended(app, job) for job in jobs]
    assert [row.error["kind"] for row in rows] == ["fatal", "schema_invalid"]
    assert [row.error["error_class"] for row in rows] == ["VendorDown", "VendorQuotaGone"]
    assert sorted(tries) == ["down", "quota"]


@pytest.mark.parametrize("how", ["raised", "returned", "in a thread"])
async def test_retry_later_comes_back_without_using_an_attempt(app, how):
    @app.operation("busy")
    async def busy(ctx):
        if how == "raised":
            raise RetryLater("GPU busy", delay_seconds=60)
        return RetryLater("GPU busy", delay_seconds=60)

    @app.operation("busy-thread")
    def busy_thread(ctx):
        return RetryLater("GPU busy", delay_seconds=60)

    job = await app.enqueue("busy-thread" if how == "in a thread" else "busy")
    async with working(app):
        await eventually(lambda: happened(app, job, "job.retry_later"))
    row = await app.get(job.id)
    [event] = await happened(app, job, "job.retry_later")
    assert (row.state, row.failures, row.reason, row.retry_laters) == (State.QUEUED, 0, "retry_later", 1)
    assert event.message == "GPU busy"
    assert event.fields["delay_seconds"] == 60
    assert (row.run_at - event.ts).total_seconds() == pytest.approx(60, abs=0.01)


async def test_retry_later_runs_again_when_its_time_has_come(app):
    entries = []

    @app.operation("busy", max_attempts=1)
    async def busy(ctx):
        entries.append(ctx.attempt)
        return RetryLater("GPU busy", delay_seconds=0) if len(entries) < 4 else "at last"

    job = await app.enqueue("busy")
    async with working(app):
        assert await app.result(job.id, timeout=20) == "at last"
    assert entries == [1, 1, 1, 1]


async def test_the_verdict_of_a_remote_handler_is_obeyed(app):
    @app.operation("remote", retry=AT_ONCE)
    async def remote(ctx, envelope):
        return outcome_from_envelope(envelope)

    good = await app.enqueue("remote", {"status": "ok", "result": [1, 2]})
    schema = await app.enqueue("remote", {"status": "error", "error_kind": "schema_invalid", "message": "no such column"})
    fatal = await app.enqueue("remote", {"status": "error", "error_kind": "Fatal", "message": "bad key"})
    strange = await app.enqueue("remote", {"status": "error", "error_kind": "sunspots", "message": "hm"})
    limited = await app.enqueue("remote", {"status": "error", "error_kind": "RateLimited", "retry_after": 100})
    async with working(app):
        assert await app.result(good.id, timeout=10) == [1, 2]
        assert (await in_state(app, schema, "failed")).error["kind"] == "schema_invalid"
        assert (await in_state(app, fatal, "failed")).error["kind"] == "fatal"
        row = await in_state(app, strange, "failed")
        assert (row.error["kind"], row.failures) == ("transient", 3)
        await eventually(lambda: happened(app, limited, "job.retry_later"))
    row = await app.get(limited.id)
    assert (row.reason, row.failures) == ("rate_limited", 0)
