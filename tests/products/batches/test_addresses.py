"""Requests that are read from an address: once, streamed, and no secret of the address is kept."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.working import on_sqlite
from tests.http.serving import answering
from tests.products.batches.desk import Desk, EchoProvider, opened_desk, request
from tests.server.api.site import ok, problem
from towpath import App, Settings

SECRET = "signed-by-a-friend"


@pytest.fixture
async def desk(database_url: str, settings: Settings, provider: EchoProvider) -> AsyncIterator[Desk]:
    trusting = replace(settings, allow_private_urls=True)
    async with opened_desk(App(database_url, settings=trusting), provider) as desk:
        yield desk


def page(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


LINES = b"\n".join([json.dumps(request("a")).encode(), b"{", json.dumps(request("b")).encode()])


async def everything_stored(desk: Desk) -> bytes:
    """Every blob, and the database as it is on the disk, with jobs, events and the audit log."""
    blobs = [key.encode() + await desk.app.blobs.get(key) for key in await desk.blobs()]
    database = Path(desk.app.url.removeprefix("sqlite:///"))
    return b"".join([*blobs, *(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))])


@on_sqlite
async def test_requests_at_an_address_are_read_once_and_its_secret_is_gone_then(desk: Desk):
    asked: list[bytes] = []

    def served(head: bytes) -> bytes:
        asked.append(head)
        return page(LINES)

    async with answering(served) as port:
        found = await desk.finished(None, input=f"http://127.0.0.1:{port}/my/questions.jsonl?sig={SECRET}")
        assert (found["status"], found["ok"], found["invalid"]) == ("COMPLETED", 2, 1)
        assert found["title"] == "questions.jsonl"
        again = await desk.finished(None, dataset_ids=found["dataset_ids"])
    assert (again["status"], again["ok"]) == ("COMPLETED", 2)
    assert len(asked) == 1, "what was read is the dataset's own"
    assert SECRET.encode() in asked[0]
    kept = await everything_stored(desk)
    assert b"my/questions.jsonl" in kept
    assert SECRET.encode() not in kept


async def test_requests_at_an_address_are_answered_on_both_databases(desk: Desk):
    async with answering(lambda head: page(LINES)) as port:
        found = await desk.finished(None, input=f"http://127.0.0.1:{port}/q.jsonl")
    assert [line["custom_id"] for line in await desk.results(found["id"])] == ["a", None, "b"]


@on_sqlite
async def test_an_estimate_reads_from_the_address_too(desk: Desk):
    async with answering(lambda head: page(LINES)) as port:
        asked = {"input": f"http://127.0.0.1:{port}/q.jsonl", "models": ["m1"]}
        told = ok(await desk.ann.post("/api/batches/estimate", json=asked))
    assert (told["requests"], told["invalid"], told["whole"]) == (2, 1, True)


@on_sqlite
async def test_an_address_where_nothing_is_fails_the_batch_in_words_without_its_secret(desk: Desk, provider: EchoProvider):
    async with answering(lambda head: page(b"", "404 Not Found")) as port:
        found = await desk.finished(None, input=f"http://127.0.0.1:{port}/q.jsonl?sig={SECRET}")
    assert (found["status"], "there is nothing at this address" in found["error"]) == ("FAILED", True)
    assert SECRET not in repr(found)
    assert provider.ledger.paid == []
    ok(await desk.ann.delete(f"/api/batches/{found['id']}"))
    assert [key for key in await desk.blobs() if key.startswith("datasets/")] == []


@on_sqlite
async def test_an_address_that_breaks_off_is_read_again(desk: Desk):
    served = [f"HTTP/1.1 200 OK\r\ncontent-length: {len(LINES)}\r\n\r\n".encode() + LINES[:20], page(LINES)]
    async with answering(lambda head: served.pop(0)) as port:
        found = await desk.finished(None, input=f"http://127.0.0.1:{port}/q.jsonl")
    assert (found["status"], found["ok"], served) == ("COMPLETED", 2, [])


@on_sqlite
async def test_addresses_that_must_not_be_read_are_refused_before_anything_is_stored(
    database_url: str, settings: Settings, provider: EchoProvider
):
    async with opened_desk(App(database_url, settings=settings), provider) as desk:
        for uri, why in [
            ("http://example.com/q.jsonl", "http://"),
            ("https://127.0.0.1/q.jsonl", "127.0.0.1"),
            ("https://localhost:1/q.jsonl", "localhost"),
            ("s3://somebody/q.jsonl", "s3://somebody"),
            ("file:///etc/passwd", "https://"),
        ]:
            told = problem(await desk.send(None, input=f"{uri}?sig={SECRET}"), 422, "invalid")
            assert why in told["detail"], told
            assert SECRET not in repr(told)
        assert ok(await desk.ann.get("/api/batches"))["items"] == []
        assert await desk.blobs() == []
