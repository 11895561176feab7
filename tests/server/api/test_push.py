"""Pushes of Pub/Sub ring, if they are signed for this address by the right account, and do nothing else."""

import asyncio
import base64
import json
import time

import httpx
import pytest

from tests.http.openid import new_key
from tests.services.pubsub import ACCOUNT, AUDIENCE, pubsub_service
from towpath import App, Settings
from towpath.server import create_app, running

PATH = "/api/push/pubsub"


@pytest.fixture
async def service():
    async with pubsub_service() as own:
        yield own


@pytest.fixture
async def app(sqlite_url, service):
    settings = Settings(
        pubsub_push_account=ACCOUNT, pubsub_push_audience=AUDIENCE, pubsub_push_issuer=service.provider.issuer
    )
    return App(sqlite_url, settings=settings)


@pytest.fixture
async def client(app):
    api = create_app(app)
    async with running(api), httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://towpath.test") as own:
        yield own


@pytest.fixture
async def rung(app, client):
    heard: list[str] = []
    app.services.transport.listen(heard.append)
    return heard


def pushed(number: object = 1, **attributes: str) -> dict:
    return {"message": {"messageId": str(number), "attributes": attributes, "data": "e30="}, "subscription": "s"}


def bearing(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_a_push_rings_for_the_queues_it_names(client, service, rung):
    answer = await client.post(PATH, json=pushed(queue="images, sounds"), headers=bearing(service.token()))
    assert (answer.status_code, answer.content) == (204, b"")
    assert sorted(rung) == ["images", "sounds"]


async def test_a_message_that_comes_again_rings_once(client, service, rung):
    for _ in range(3):
        answer = await client.post(PATH, json=pushed("same", queue="images"), headers=bearing(service.token()))
        assert answer.status_code == 204
    assert rung == ["images"]


async def test_a_push_that_comes_again_runs_no_job_twice(app, client, service):
    ran: list[int] = []

    @app.operation("note", queue="images")
    async def note(ctx, payload):
        ran.append(payload)

    stop = asyncio.Event()
    working = asyncio.create_task(app.run_worker(["images"], 2, stop=stop))
    jobs = await app.enqueue_many([{"operation": "note", "payload": n} for n in range(5)])
    for number in (1, 1, 2, 2, 3):
        await client.post(PATH, json=pushed(number, queue="images"), headers=bearing(service.token()))
    for job in jobs:
        await app.result(job.id, timeout=20)
    stop.set()
    await working
    assert sorted(ran) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://accounts.example.com"},
        {"aud": "https://elsewhere.example/api/push/pubsub"},
        {"email": "somebody@else.iam.gserviceaccount.com"},
        {"email_verified": False},
        {"email_verified": "true"},
        {"exp": int(time.time()) - 3600},
        {"iat": int(time.time()) + 3600},
    ],
    ids="-".join,
)
async def test_a_token_that_is_not_meant_for_this_rings_nothing(client, service, rung, claims):
    answer = await client.post(PATH, json=pushed(queue="images"), headers=bearing(service.token(**claims)))
    assert answer.status_code == 401
    assert answer.json()["type"] == "/problems/unauthenticated"
    assert rung == []


async def test_a_push_without_a_token_or_with_a_forged_one_rings_nothing(client, service, rung):
    head, body, signature = service.token().split(".")
    unsigned = base64.urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).decode().rstrip("=")
    for headers in (
        {}, {"authorization": "Basic Zm9vOmJhcg=="}, bearing(""), bearing("nonsense"), bearing(f"{unsigned}.{body}."),
        bearing(f"{head}.{body}.{signature[::-1]}"),
    ):  # fmt: skip
        answer = await client.post(PATH, json=pushed(queue="images"), headers=headers)
        assert answer.status_code == 401, headers
    assert rung == []


async def test_keys_that_have_changed_are_asked_for_again(client, service, rung):
    assert (await client.post(PATH, json=pushed(1, queue="a"), headers=bearing(service.token()))).status_code == 204
    second = new_key("second")
    service.provider.keys.append(second)
    service.key = second
    assert (await client.post(PATH, json=pushed(2, queue="b"), headers=bearing(service.token()))).status_code == 204
    assert rung == ["a", "b"]


@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b'{"message": {}}', b'{"message": {"messageId": "1", "attributes": {"queue": "a b"}}}',
     b'{"message": {"messageId": "1", "data": "e30="}}'],
)  # fmt: skip
async def test_what_makes_no_sense_is_taken_and_forgotten_or_it_would_come_for_days(client, service, rung, body, caplog):
    answer = await client.post(PATH, content=body, headers={**bearing(service.token()), "content-type": "application/json"})
    assert answer.status_code == 204
    assert rung == []
    assert "push of Pub/Sub" in caplog.text


async def test_where_no_push_is_expected_there_is_nothing(sqlite_url):
    api = create_app(App(sqlite_url, settings=Settings()))
    async with running(api), httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://towpath.test") as client:
        answer = await client.post(PATH, json=pushed(queue="images"))
        assert answer.status_code == 404
        assert "TOWPATH_PUBSUB_PUSH_ACCOUNT" in answer.json()["detail"]


async def test_a_provider_that_does_not_answer_is_no_reason_to_believe_or_to_drop(client, service, rung):
    token = service.token()
    service.provider.issuer += "/gone"
    answer = await client.post(PATH, json=pushed(queue="images"), headers=bearing(token))
    assert answer.status_code == 503  # it comes again
    assert rung == []
