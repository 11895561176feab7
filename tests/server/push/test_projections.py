"""Things that jobs work on are told of by their product's projection, whenever a job of theirs has changed."""

import asyncio
import json

import httpx
import pytest

from tests.engine.working import ended, eventually, on_sqlite, working
from tests.server.push.listening import Listener
from tests.server.push.serving import PATIENCE
from towpath import ConfigurationError, NameTaken, Projection
from towpath.push import Limits

SHELF = {"b1": "anna", "b2": "bert"}


@pytest.fixture
def limits():
    return Limits(heartbeat=0.1, recheck=0.1, interval=0.01, projection=0.3, resting=1.0)


@pytest.fixture
def shelf():
    return dict(SHELF)


@pytest.fixture
async def app(app, shelf):
    """Books; what is told of one is who has it and how many jobs it has had."""

    @app.projection("book")
    async def project(ids):
        jobs = await app.subjects.jobs("book", ids)
        return {
            one: Projection(shelf[one], json.dumps({"id": one, "jobs": [job.state for job in jobs[one]]}))
            for one in ids
            if one in shelf
        }

    return app


async def put(app, book="b1", payload=0):
    return await app.enqueue("work", payload, subject=("book", book), tenant=SHELF[book])


async def test_a_thing_is_told_of_whenever_a_job_of_it_has_changed(app, listen):
    anna = await listen("anna")
    job = await put(app)
    await anna.until(lambda heard: {"id": "b1", "jobs": ["queued"]} in heard.of("book"))
    async with working(app):
        await ended(app, job)
    await anna.until(lambda heard: {"id": "b1", "jobs": ["succeeded"]} in heard.of("book"))


async def test_children_speak_for_their_parents_subject(app, listen):
    @app.operation("both")
    async def both(ctx):
        await ctx.gather("work", [0, 0])

    anna = await listen("anna", types="book")
    job = await app.enqueue("both", subject=("book", "b1"), tenant="anna")
    async with working(app):
        await ended(app, job)
    children = await app.list(parent=job.id)
    assert [child.subject for child in children] == [("book", "b1")] * 2
    await anna.until(lambda heard: {"id": "b1", "jobs": ["succeeded"]} in heard.of("book"))


async def test_what_the_projection_knows_nothing_of_is_gone(app, listen, shelf):
    anna = await listen("anna", types="book")
    job = await put(app)
    await anna.until(lambda heard: heard.of("book"))
    del shelf["b1"]
    await app.cancel(job.id)
    await anna.until(lambda heard: heard.of("book.deleted"))
    assert anna.of("book.deleted")[0] == {"id": "b1"}


async def test_also_when_its_jobs_have_gone_with_it(app, listen, shelf):
    job = await put(app)
    await app.cancel(job.id)
    anna = await listen("anna", types="book")
    del shelf["b1"]
    await app.subjects.delete("book", "b1")
    await anna.until(lambda heard: heard.of("book.deleted") == [{"id": "b1"}])


async def test_nobody_hears_of_another_tenants_things(app, listen):
    anna, admin = await listen("anna", types="book"), await listen("anna", admin=True, types="book")
    await put(app, "b2")
    await put(app, "b1")
    await admin.until(lambda heard: len(heard.of("book")) >= 2)
    await anna.until(lambda heard: heard.of("book"))
    assert {data["id"] for data in anna.of("book")} == {"b1"}
    assert {data["id"] for data in admin.of("book")} == {"b1", "b2"}


async def test_whoever_is_cut_off_before_a_jobs_message_is_told_of_the_thing_again(app, address, token_for):
    anna = Listener(address, await token_for("anna"), {"types": ["job", "book"]})
    async with anna.connected():
        await anna.until(lambda heard: heard.parser.last_id)
        before = anna.parser.last_id
        await put(app)
        await anna.until(lambda heard: heard.of("book"))
    [kind, *_] = [message.event for message in anna.heard]
    assert kind == "book"  # it comes first, with the id of what came before
    assert anna.heard[0].id == before
    again = Listener(address, anna.token, {"types": ["job", "book"]})
    again.parser.last_id = before
    async with again.connected():
        await again.until(lambda heard: heard.of("book") and heard.of("job"))


async def test_a_projection_that_fails_does_not_end_the_stream(app, listen):
    @app.projection("film")
    async def project(ids):
        raise ZeroDivisionError

    anna = await listen("anna")
    job = await app.enqueue("work", 0, subject=("film", "f1"), tenant="anna")
    await put(app)
    await anna.until(lambda heard: heard.of("book") and job.id in dict(heard.events))


@on_sqlite
async def test_kinds_that_nobody_tells_of_cannot_be_asked_for(address, token_for):
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        headers = {"Authorization": f"Bearer {await token_for('anna')}"}
        answer = await client.get(f"{address}/api/events", headers=headers, params={"types": "bok"})
    assert answer.status_code == 422
    assert "book" in answer.text


async def test_a_projection_that_does_not_answer_keeps_nobody_elses_stream_waiting(app, listen, caplog):
    """Neither another tenant's, nor what else this one is told."""

    @app.projection("film")
    async def project(ids):
        await asyncio.Event().wait()

    anna, bert = await listen("anna"), await listen("bert")
    filmed = await app.enqueue("work", 0, subject=("film", "f1"), tenant="bert")
    await put(app)
    await bert.until(lambda heard: filmed.id in dict(heard.events))
    await anna.until(lambda heard: heard.of("book") and heard.of("job"))
    assert bert.of("film") == []
    assert "film did not answer" in caplog.text


async def test_a_projection_that_did_not_answer_is_left_alone_for_a_while_and_then_asked_again(app, listen):
    asked, answers = [], asyncio.Event()

    @app.projection("film")
    async def project(ids):
        asked.append(ids)
        await answers.wait()
        return {one: Projection("anna", json.dumps({"id": one})) for one in ids}

    anna = await listen("anna")

    async def heard_of_a_job():
        job = await app.enqueue("work", 0, subject=("film", "f1"), tenant="anna")
        await anna.until(lambda heard: job.id in dict(heard.events))

    await heard_of_a_job()
    await heard_of_a_job()
    assert asked == [["f1"]]
    answers.set()

    async def told():
        await heard_of_a_job()
        return anna.of("film")

    assert await eventually(told) == [{"id": "f1"}]


@on_sqlite
async def test_kinds_whose_messages_would_be_taken_for_others_are_refused(app):
    for kind in ("job", "deleted", "reset", "film.deleted"):
        with pytest.raises(ConfigurationError, match="message"):
            app.projection(kind)(_nothing)


@on_sqlite
async def test_a_kind_has_one_projection(app):
    app.projection("film")(_nothing)
    app.projection("film")(_nothing)  # the same one again, as when a slice is attached twice
    with pytest.raises(NameTaken, match=r"_nothing.*film"):

        @app.projection("film")
        async def other(ids):
            return {}

    assert app.projections["film"] is _nothing


async def _nothing(ids):
    return {}
