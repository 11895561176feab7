"""The Failed Items Inbox: one cause is one group, and there is a way back."""

import pytest

from tests.engine.working import ended, happened, working
from towpath import Fatal, SchemaInvalid, State

BROKEN = {"now": True}


@pytest.fixture(autouse=True)
def everything_is_broken():
    BROKEN["now"] = True


@pytest.fixture
async def app(app):
    """Seven failures of three causes, two tenants."""

    @app.operation("read")
    async def read(ctx, payload: dict):
        if BROKEN["now"]:
            raise Fatal(f"page {payload['page']} of 'scan-{payload['page']}.pdf' is blank")
        return payload["page"]

    @app.operation("check")
    async def check(ctx, payload: dict):
        if BROKEN["now"]:
            raise SchemaInvalid("must be a date", path="invoice.date")
        return "fine"

    @app.operation("wrong")
    async def wrong(ctx):
        if BROKEN["now"]:
            raise Fatal("always the same")

    jobs = [await app.enqueue("read", {"page": n}, tenant="alice" if n < 3 else "bob") for n in range(4)]
    jobs += [await app.enqueue("check", {}), await app.enqueue("check", {}), await app.enqueue("wrong")]
    async with working(app):
        for job in jobs:
            assert (await ended(app, job)).state is State.FAILED
    return app


async def test_failures_are_grouped_by_operation_kind_and_message_without_its_variable_parts(app):
    groups = [(group.operation, group.kind, group.message, group.jobs) for group in await app.inbox.groups()]
    assert groups == [
        ("read", "fatal", "page … of … is blank", 4),
        ("check", "schema_invalid", "invoice.date: must be a date", 2),
        ("wrong", "fatal", "always the same", 1),
    ]
    first = (await app.inbox.groups())[0]
    assert first.first_at <= first.last_at
    assert first.example in {job.id for job in await app.list(operation="read")}
    assert [(group.operation, group.jobs) for group in await app.inbox.groups(tenant="alice")] == [("read", 3)]


async def test_the_jobs_of_a_group_are_listed_in_pages(app):
    [group, *_] = await app.inbox.groups()
    pages, after = [], None
    while page := await app.inbox.jobs(
        operation=group.operation, kind=group.kind, message=group.message, after=after, limit=3
    ):
        pages.append([job.payload["page"] for job in page])
        after = page[-1].id
    assert pages == [[0, 1, 2], [3]]
    assert [job.payload["page"] for job in await app.inbox.jobs(tenant="bob")] == [3]


async def test_a_filter_requeues_what_it_matches_and_nothing_else(app):
    BROKEN["now"] = False
    outcome = await app.inbox.requeue(operation="read", tenant="alice")
    assert (outcome.requeued, outcome.refused) == (3, {})
    async with working(app):
        for job in await app.list(tenant="alice"):
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert len(await app.inbox.jobs()) == 4
    assert (await app.inbox.requeue(kind="schema_invalid")).requeued == 2
    assert (await app.inbox.requeue()).requeued == 2
    assert await app.inbox.jobs() == []
    assert await app.inbox.groups() == []


async def test_the_old_error_stays_in_the_events(app):
    BROKEN["now"] = False
    [job] = await app.inbox.jobs(operation="wrong")
    assert (await app.inbox.requeue([job.id])).requeued == 1
    async with working(app):
        row = await ended(app, job)
    assert (row.state, row.error, row.error_kind) == (State.SUCCEEDED, None, None)
    [failed] = await happened(app, job, "job.failed")
    assert failed.message == "always the same"
    assert failed.fields["kind"] == "fatal"


async def test_a_requeue_can_carry_an_edited_payload(app):
    BROKEN["now"] = False
    ids = [job.id for job in await app.inbox.jobs(operation="read")][:2]
    assert (await app.inbox.requeue(ids, payload={"page": 99})).requeued == 2
    async with working(app):
        assert [await app.result(job_id, timeout=10) for job_id in ids] == [99, 99]
    with pytest.raises(SchemaInvalid):
        await app.inbox.requeue(operation="check", payload=["not", "a", "dict"])
    assert len(await app.inbox.jobs(operation="check")) == 2


async def test_what_cannot_be_requeued_is_told_apart_from_what_was(app):
    BROKEN["now"] = False
    failed = await app.inbox.jobs(operation="read")
    assert (await app.inbox.requeue([failed[0].id])).requeued == 1
    outcome = await app.inbox.requeue([failed[0].id, failed[1].id])
    assert outcome.requeued == 1
    assert list(outcome.refused) == [failed[0].id]
    assert "queued" in outcome.refused[failed[0].id]
