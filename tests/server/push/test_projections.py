"""Things that jobs work on are told of by their product's projection, whenever a job of theirs has changed."""

import json

import httpx
import pytest

from tests.engine.working import ended, on_sqlite, working
from tests.server.push.listening import Listener
from tests.server.push.serving import PATIENCE
from towpath import Projection

SHELF = {"b1": "anna", "b2": "bert"}


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
