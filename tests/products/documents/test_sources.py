"""Where documents come from other than uploads, and where passages are embedded other than here: services that ask for
patience are left alone by everybody."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.working import eventually
from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.documents.library import TEXT, Library, opened_library
from tests.server.api.site import ok, problem
from towpath import App, Price, Settings
from towpath.outbound import sources
from towpath.outbound.client import Outbound
from towpath.outbound.web import OnTheWeb


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as wire:
        yield wire


@pytest.fixture
def settings(settings: Settings, wire: WireServer) -> Settings:
    return replace(
        settings,
        embed_url=wire.url,
        embed_key="k",
        embed_model="tiny",
        allow_private_urls=True,
        input_buckets="s3://shelf/in",
    )


@pytest.fixture
async def library(database_url: str, settings: Settings, wire: WireServer) -> AsyncIterator[Library]:
    wire.always = _directions
    app = App(database_url, settings=settings)
    async with opened_library(app) as library:
        await app.prices.put({"tiny": Price(1_000_000.0, 0.0)})  # a cent for each token
        yield library


def _directions(asked: Asked) -> Answer:
    """What is about tolls lies one way, everything else the other."""
    body = asked.json()
    rows = [[1.0, 0.0] if "toll" in text or "levy" in text else [0.0, 1.0] for text in body["input"]]
    data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
    return Answer({"model": body["model"], "data": data[::-1], "usage": {"prompt_tokens": 7}})


def _embedded(wire: WireServer) -> list[Any]:
    return [asked.json() for asked in wire.asked if asked.path == "/v1/embeddings"]


async def test_an_endpoint_embeds_passages_and_questions_alike(library: Library, wire: WireServer) -> None:
    _, items = await library.finished(("a.txt", TEXT), ("b.txt", "The sheep slept below the hill until the evening came."))
    assert {(await library.document(item))["embedded"] for item in items} == {"tiny"}
    [step] = [one for one in items[0]["steps"] if one["step"] == "EMBEDDED"]
    assert step["model"] == "tiny"
    assert step["cost_cents"] == step["tokens_in"] > 10
    assert all(asked["model"] == "tiny" for asked in _embedded(wire))
    assert {asked.headers["authorization"] for asked in wire.asked} == {"Bearer k"}
    hits = await library.found("levy", how="meaning")
    assert (hits[0].passage.facts["name"], len(_embedded(wire)[-1]["input"])) == ("a.txt", 1)
    wire.always = lambda asked: Answer({"error": "gone"}, 503)
    assert len(await library.found("barges")) == 1, "without its model there are still words"


async def test_a_429_of_the_endpoint_makes_every_document_wait(library: Library, wire: WireServer) -> None:
    wire.always = lambda asked: Answer({"error": "slowly"}, 429, {"retry-after": "3000"})
    run_id = await library.make(("a.txt", TEXT))

    async def waits() -> bool:
        return [one["waiting_for"] for one in await library.items(run_id)].count("rate_limited") == number

    async with library.working(concurrency=1):
        number = 1
        await eventually(waits, within=60)
        asked = len(wire.asked)
        run_id = await library.make(("b.txt", f"another {TEXT}"))
        await eventually(waits, within=60)
    assert len(wire.asked) == asked


async def test_embedding_waits_for_money_where_it_has_a_price(library: Library, wire: WireServer) -> None:
    run_id = await library.make(("a.txt", TEXT), settings={"budget_cents": 1})

    async def is_short() -> bool:
        return bool((await library.run(run_id))["waiting"] == {"budget": 1})

    async with library.working():
        await eventually(is_short, within=60)
        assert _embedded(wire) == []
        ok(await library.ann.put(f"/api/documents/runs/{run_id}/budget", json={"budget_cents": None}))
        run = await library.done(run_id)
    assert run["status"] == "COMPLETED"
    assert len(_embedded(wire)) == 1


async def test_whoever_asks_for_patience_is_asked_by_nobody_of_the_tenant(library: Library, wire: WireServer) -> None:
    wire.always = lambda asked: Answer(b"slowly", 429, {"retry-after": "3000"})
    urls = [{"url": f"{wire.root}/{name}"} for name in "abc"]
    run_id = ok(await library.send(urls, kind="url"), 202)["id"]

    async def all_wait() -> bool:
        return bool((await library.run(run_id))["waiting"] == {"rate_limited": 3})

    async with library.working(concurrency=1):
        await eventually(all_wait, within=60)
    assert len(wire.asked) == 1


async def test_an_address_that_leads_into_the_private_network_is_not_followed(
    library: Library, wire: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address is a public one, as far as the client knows; where it leads is not."""
    wire.always = lambda asked: Answer(b"", 302, {"location": f"http://127.0.0.2:{wire.root.rpartition(':')[2]}/secret"})

    def public(uri: str, asked: Outbound, *, plain_http: bool) -> OnTheWeb:
        return OnTheWeb(uri, Outbound(permitted=lambda address: str(address) == "127.0.0.1"), plain_http=True)

    monkeypatch.setattr(sources, "OnTheWeb", public)
    run_id = ok(await library.send([{"url": f"{wire.root}/a"}], kind="url"), 202)["id"]
    async with library.working():
        await library.done(run_id)
    [item] = await library.items(run_id)
    assert (item["error"]["category"], item["error"]["step"]) == ("schema_invalid", "FETCHED")
    assert "private network" in item["error"]["message"]
    assert [asked.path for asked in wire.asked] == ["/a"]


async def test_a_folder_of_a_bucket_is_listed_and_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hush",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        client = boto3.Session().client("s3")
        client.create_bucket(Bucket="shelf")
        for name in ("in/a.txt", "in/deep/b.txt", "other/c.txt"):
            client.put_object(Bucket="shelf", Key=name, Body=f"{name} {TEXT}".encode())
        client.close()
        problem(await library.send([{"uri": "s3://shelf/other/"}], kind="bucket"), 422, "invalid")
        run_id = ok(await library.send([{"uri": "s3://shelf/in/"}], kind="bucket"), 202)["id"]
        async with library.working():
            run = await library.done(run_id)
    finally:
        server.stop()
    assert (run["status"], run["count"], run["priority"]) == ("COMPLETED", 2, "bulk")
    assert [item["source"] for item in await library.items(run_id)] == ["s3://shelf/in/a.txt", "s3://shelf/in/deep/b.txt"]
