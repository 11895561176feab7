"""Putting jobs in: payloads, keys, order, due times, and all or nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel

from tests.engine.working import ended, happened, working
from towpath import JobFailed, SchemaInvalid, State, UnknownOperation


class Size(BaseModel):
    width: int
    height: int = 10


@dataclass
class Point:
    x: int
    y: int


async def test_the_result_of_an_operation_comes_back(app):
    @app.operation("add")
    async def add(ctx, payload):
        return payload["a"] + payload["b"]

    @app.operation("nothing")
    async def nothing(ctx):
        return None

    async with working(app):
        assert await app.result((await app.enqueue("add", {"a": 1, "b": 2})).id, timeout=10) == 3
        assert await app.result((await app.enqueue("nothing")).id, timeout=10) is None


async def test_an_operation_gets_its_payload_in_its_own_type(app):
    @app.operation("model")
    async def model(ctx, size: Size):
        return [type(size).__name__, size.width * size.height]

    @app.operation("dataclass")
    async def of_dataclass(ctx, point: Point):
        return [type(point).__name__, point.x + point.y]

    @app.operation("dict")
    async def of_dict(ctx, payload: dict):
        return payload

    @app.operation("numbers")
    async def numbers(ctx, payload: dict[str, int]):
        return payload

    async with working(app):
        for operation, payload, result in [
            ("model", {"width": 3}, ["Size", 30]),
            ("model", Size(width=2, height=2), ["Size", 4]),
            ("dataclass", {"x": 1, "y": 2}, ["Point", 3]),
            ("dataclass", Point(3, 4), ["Point", 7]),
            ("dict", {"ключ": [1, 2.5, None, "é"]}, {"ключ": [1, 2.5, None, "é"]}),
            ("numbers", {"one": 1}, {"one": 1}),
        ]:
            job = await app.enqueue(operation, payload)
            assert await app.result(job.id, timeout=10) == result


async def test_a_payload_that_does_not_fit_is_refused_at_enqueue_with_its_path(app):
    @app.operation("model")
    async def model(ctx, size: Size): ...

    @app.operation("dataclass")
    async def of_dataclass(ctx, point: Point): ...

    @app.operation("dict")
    async def of_dict(ctx, payload: dict): ...

    @app.operation("numbers")
    async def numbers(ctx, payload: dict[str, int]): ...

    for operation, payload, path in [
        ("model", {"width": "wide"}, "width"),
        ("model", {}, "width"),
        ("dataclass", {"x": 1}, "y"),
        ("dict", [1], "$"),
        ("numbers", {"one": "many"}, "one"),
    ]:
        with pytest.raises(SchemaInvalid) as refused:
            await app.enqueue(operation, payload)
        assert refused.value.path == path
        assert path in str(refused.value)
        assert operation in str(refused.value)
    assert await app.list() == []


async def test_a_payload_that_does_not_fit_at_run_goes_to_the_inbox_with_its_path(new_app, app):
    async with new_app() as other:  # an older release that knew the operation with another type

        @other.operation("model")
        async def untyped(ctx, payload): ...

        job = await other.enqueue("model", {"width": {"cm": 3}})

    @app.operation("model")
    async def model(ctx, size: Size): ...

    async with working(app):
        with pytest.raises(JobFailed) as failed:
            await app.result(job.id, timeout=10)
    assert failed.value.failure["kind"] == "schema_invalid"
    assert failed.value.failure["path"] == "width"
    assert (await app.get(job.id)).failures == 1


async def test_an_unknown_operation_is_refused_with_the_known_ones(app):
    @app.operation("resize")
    async def resize(ctx): ...

    with pytest.raises(UnknownOperation, match=r"no operation is named 'resise'; this app knows resize"):
        await app.enqueue("resise")


async def test_a_key_makes_enqueue_idempotent_while_its_job_is_live(app):
    @app.operation("once")
    async def once(ctx, payload): ...

    @app.operation("other")
    async def other(ctx, payload): ...

    first = await app.enqueue("once", {"n": 1}, key="k")
    again = await app.enqueue("once", {"n": 2}, key="k")
    assert again.id == first.id
    assert again.payload == {"n": 1}
    assert (await app.enqueue("once", {}, key="k", tenant="another")).id != first.id
    assert (await app.enqueue("other", {}, key="k")).id != first.id
    twins = await app.enqueue_many([{"operation": "once", "key": "twin"}, {"operation": "once", "key": "twin"}])
    assert twins[0].id == twins[1].id
    assert len(await app.list()) == 4
    async with working(app):
        await ended(app, first)
        assert (await app.enqueue("once", {}, key="k")).id != first.id


async def test_a_job_that_was_not_needed_leaves_no_blob(opened, tmp_path):
    app = await opened(inline_bytes=100)

    @app.operation("once")
    async def once(ctx, payload): ...

    def blobs():
        return {path.parts[-2] for path in (tmp_path / "blobs").rglob("payload*") if path.is_file()}

    first = await app.enqueue("once", "x" * 500, key="k")
    assert blobs() == {first.id}
    again = await app.enqueue("once", "y" * 500, key="k")
    assert again.id == first.id
    assert blobs() == {first.id}
    assert await app.payload(again.id) == "x" * 500


async def test_lower_priorities_run_first(app):
    ran = []

    @app.operation("note")
    async def note(ctx, payload):
        ran.append(payload)

    jobs = [await app.enqueue("note", n, priority=n) for n in (3, 1, 0, 2)]
    async with working(app, concurrency=1):
        for job in jobs:
            await ended(app, job)
    assert ran == [0, 1, 2, 3]


async def test_nothing_starts_before_its_time(app):
    @app.operation("when")
    async def when(ctx):
        return None

    delayed = await app.enqueue("when", delay=0.3)
    dated = await app.enqueue("when", run_at=datetime.now(UTC) + timedelta(seconds=0.3))
    past = await app.enqueue("when", run_at=datetime.now(UTC) - timedelta(days=1))
    far = await app.enqueue("when", delay=3600)
    due = {job.id: (await app.get(job.id)).run_at for job in (delayed, dated)}
    assert all(due.values())
    assert (await app.get(past.id)).run_at is None
    async with working(app):
        for job in (delayed, dated, past):
            assert (await ended(app, job)).state is State.SUCCEEDED
        for job_id, moment in due.items():
            [started] = await happened(app, job_id, "job.started")
            assert started.ts >= moment
        assert (await app.get(far.id)).state is State.QUEUED


async def test_many_jobs_go_in_together_or_not_at_all(app):
    @app.operation("model")
    async def model(ctx, size: Size):
        return size.width

    with pytest.raises(SchemaInvalid):
        await app.enqueue_many([{"operation": "model", "payload": {"width": n or "none"}} for n in (2, 1, 0)])
    assert await app.list() == []
    jobs = await app.enqueue_many([{"operation": "model", "payload": {"width": n}, "tenant": "t"} for n in range(5)])
    assert [job.tenant for job in jobs] == ["t"] * 5
    assert await app.enqueue_many([]) == []
    async with working(app):
        assert [await app.result(job.id, timeout=10) for job in jobs] == list(range(5))


async def test_a_misspelt_option_is_refused(app):
    @app.operation("model")
    async def model(ctx, size: Size): ...

    with pytest.raises(TypeError, match="tennant"):
        await app.enqueue("model", {"width": 1}, tennant="alice")


async def test_rows_and_jobs_of_one_transaction_exist_together_or_not_at_all(app, database_url):
    @app.operation("nothing")
    async def nothing(ctx): ...

    mark = "?" if database_url.startswith("sqlite") else "$1"
    async with app.transaction() as tx:
        await tx.execute("CREATE TABLE boat (name text)")
    async with app.transaction() as tx:
        await tx.execute(f"INSERT INTO boat VALUES ({mark})", "Ada")
        kept = await tx.enqueue("nothing", tenant="alice")
    with pytest.raises(ZeroDivisionError):  # noqa: PT012  (the whole block is what must not be kept)
        async with app.transaction() as tx:
            await tx.execute(f"INSERT INTO boat VALUES ({mark})", "Bea")
            await tx.enqueue("nothing")
            raise ZeroDivisionError
    async with app.transaction() as tx:
        assert [row["name"] for row in await tx.fetch("SELECT name FROM boat")] == ["Ada"]
    assert [job.id for job in await app.list()] == [kept]
    async with working(app):
        assert (await ended(app, kept)).state is State.SUCCEEDED


async def test_an_item_of_a_bulk_without_an_operation_is_named_and_nothing_is_added(app):
    @app.operation("work")
    async def work(ctx): ...

    with pytest.raises(SchemaInvalid, match=r"\[1\]\.operation.*every job needs the name of its operation"):
        await app.enqueue_many([{"operation": "work"}, {"payload": 1}])
    assert await app.list() == []


async def test_items_of_a_bulk_keep_their_own_options(app):
    @app.operation("work")
    async def work(ctx, payload): ...

    jobs = await app.enqueue_many(
        [
            {"operation": "work", "payload": 1},
            {"operation": "work", "payload": 2, "tenant": "a"},
            {"payload": 3, "operation": "work", "priority": 0},
            {"operation": "work", "payload": 4},
        ]
    )
    rows = [await app.get(job.id) for job in jobs]
    assert [(row.payload_json, row.tenant, row.priority) for row in rows] == [
        ("1", "default", 1),
        ("2", "a", 1),
        ("3", "default", 0),
        ("4", "default", 1),
    ]


async def test_an_item_of_a_bulk_that_is_no_dict_is_named(app):
    with pytest.raises(SchemaInvalid, match=r"\[0\].*every job is a dict, not str"):
        await app.enqueue_many(["work"])
