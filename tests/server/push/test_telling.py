"""What a slice changes without a job is told like a job's change: by its projection, after the commit, and durably."""

import json
from datetime import timedelta

import pytest

from tests.contracts.streams import stream_start
from tests.engine.working import in_form, on_sqlite, working
from tests.server.push.listening import Listener
from towpath import ConfigurationError, Context, Projection, SchemaInvalid, Transaction
from towpath.engine.tending import tombstones

FORMS = pytest.mark.parametrize("form", ["block", "unit"])


@pytest.fixture
def shelf():
    return {"b1": "anna", "b2": "anna", "b3": "bert"}


@pytest.fixture
async def app(app, shelf):
    @app.projection("book")
    async def project(ids):
        return {one: Projection(shelf[one], json.dumps({"id": one})) for one in ids if one in shelf}

    return app


async def tell(place, form, *ids, **options):
    await in_form(place, form, lambda tx: tx.tell("book", *ids, **options))


@FORMS
async def test_what_was_changed_without_a_job_is_told_to_its_tenant(app, listen, form):
    anna, bert = await listen("anna"), await listen("bert")
    await tell(app, form, "b1", "b2", tenant="anna")
    await tell(app, form, "b3", tenant="bert")
    await anna.until(lambda heard: len(heard.of("book")) == 2)
    await bert.until(lambda heard: heard.of("book"))
    assert sorted(data["id"] for data in anna.of("book")) == ["b1", "b2"]
    assert bert.of("book") == [{"id": "b3"}]
    assert {message.event for message in [*anna.heard, *bert.heard]} == {"book"}


@FORMS
async def test_what_is_gone_without_a_job_is_told_as_deleted(app, listen, shelf, form):
    anna = await listen("anna", types="book")
    del shelf["b1"]
    await tell(app, form, "b1", tenant="anna")
    await anna.until(lambda heard: heard.of("book.deleted") == [{"id": "b1"}])


@FORMS
async def test_what_was_rolled_back_is_not_told(app, listen, form):
    anna = await listen("anna")

    async def unit(tx: Transaction) -> None:
        await tx.tell("book", "b1", tenant="anna")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await in_form(app, form, unit)
    await tell(app, form, "b2", tenant="anna")
    await anna.until(lambda heard: heard.of("book"))
    assert anna.of("book") == [{"id": "b2"}]


async def test_whoever_was_away_is_told_when_they_come_back_and_not_again(app, address, token_for):
    anna = Listener(address, await token_for("anna"))
    async with anna.connected():
        await anna.until(lambda heard: heard.parser.last_id)
    away = anna.parser.last_id
    await tell(app, "unit", "b1", tenant="anna")
    async with anna.connected():
        await anna.until(lambda heard: heard.of("book"))
        await anna.until(lambda heard: heard.parser.last_id != away)
    assert anna.of("book") == [{"id": "b1"}]
    job = await app.enqueue("work", tenant="anna")
    async with anna.connected():
        await anna.until(lambda heard: job.id in dict(heard.events))
    assert anna.of("book") == [{"id": "b1"}]


async def test_a_running_operation_tells_its_own_tenant(app, listen):
    @app.operation("cover")
    async def cover(ctx: Context, book: str):
        await ctx.transact(lambda tx: tx.tell("book", book))

    anna = await listen("anna", types="book")
    async with working(app):
        job = await app.enqueue("cover", "b2", tenant="anna")
        await app.result(job.id, timeout=20)
    await anna.until(lambda heard: heard.of("book") == [{"id": "b2"}])


async def test_streams_of_jobs_say_nothing_of_it(app):
    start = await stream_start(app.services.store)
    await tell(app, "unit", "b1", tenant="anna")
    job = await app.enqueue("work")
    assert [event.job_id async for event in app.events(after=start)] == [job.id]


async def test_it_is_forgotten_when_no_stream_can_ask_for_it_any_more(app):
    await tell(app, "unit", "b1", "b2", tenant="anna")
    assert await tombstones.forget(app.services.store) == 0
    assert await tombstones.forget(app.services.store, timedelta(0)) == 2
    assert await tombstones.forget(app.services.store, timedelta(0)) == 0


@on_sqlite
async def test_a_thing_is_a_kind_and_an_id_of_somebody(app):
    with pytest.raises(ConfigurationError, match="a subject's kind"):
        await app.transact(lambda tx: tx.tell("two words", "1"))
    with pytest.raises(SchemaInvalid, match="subject"):
        await app.transact(lambda tx: tx.tell("book", ""))
    with pytest.raises(SchemaInvalid, match="tenant"):
        await app.transact(lambda tx: tx.tell("book", "b1", tenant=""))
    await app.transact(lambda tx: tx.tell("book"))
