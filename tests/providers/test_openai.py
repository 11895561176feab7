"""What is particular to OpenAI's Batch API, and to services that speak it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from openai.types import Batch, BatchRequestCounts
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.providers.cases import MemoryFiles, completion
from tests.providers.openai import order as an_order
from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Order, Phase, Vanished
from towpath.providers.openai import OpenAI
from towpath.providers.openai_compatible import OpenAICompatible
from towpath.providers.openai_words import answer_of, result_of, translated
from towpath.providers.simulator import Fault, served
from towpath.providers.simulator.openai import KEY, WEBHOOK_SECRET, OpenAISimulator


@pytest.fixture
def simulator() -> Iterator[OpenAISimulator]:
    made = OpenAISimulator()
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: OpenAISimulator) -> AsyncIterator[OpenAI]:
    made = OpenAI(api_key=KEY, base_url=f"{simulator.url}/v1", webhook_secret=WEBHOOK_SECRET)
    yield made
    await made.aclose()


async def ended(provider: OpenAI, order: Order, files: MemoryFiles) -> tuple[Any, str]:
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    while not (await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    return prepared, external_id


def asking(files: MemoryFiles, *bodies: dict[str, Any]) -> Order:
    return completion(files, "tow-1", len(bodies), "gpt-6-astra", lambda number: bodies[number])


async def test_a_result_is_the_text_and_the_whole_answer_with_its_tokens(provider: OpenAI):
    files = MemoryFiles()
    said = "two\u2028lines, a\x85next one and \U0001f6a3"
    order = asking(files, {"messages": [{"role": "user", "content": said}]})
    prepared, external_id = await ended(provider, order, files)
    (result,) = [result async for result in provider.fetch(order, prepared, external_id)]
    assert result.body["text"] == f"You said: {said}"
    assert result.body["raw"]["object"] == "chat.completion"
    assert result.body["raw"]["model"] == "gpt-6-astra"
    assert result.tokens_in
    assert result.tokens_out


async def test_a_request_that_openai_refuses_has_its_reason_and_the_others_their_answers(provider: OpenAI):
    files = MemoryFiles()
    order = asking(files, {"messages": [{"role": "user", "content": "hello"}]}, {"messages": "hello"})
    prepared, external_id = await ended(provider, order, files)
    answer = await provider.poll(order, prepared, external_id)
    assert answer.phase is Phase.PARTIAL
    assert answer.counts is not None
    assert (answer.counts.total, answer.counts.completed, answer.counts.failed) == (2, 1, 1)
    results = {result.ref: result async for result in provider.fetch(order, prepared, external_id)}
    assert results["r0"].ok
    assert "messages" in str(results["r1"].error)
    assert results["r1"].code == "simulated"


async def test_requests_larger_than_any_buffer_arrive_whole(provider: OpenAI, simulator: OpenAISimulator):
    files = MemoryFiles()
    long = "word " * 100_000
    order = asking(files, *({"messages": [{"role": "user", "content": f"{number} {long}"}]} for number in range(5)))
    prepared = await provider.prepare(order, files)
    lines = simulator.files[prepared["input_file_id"]].splitlines()
    assert [json.loads(line)["custom_id"] for line in lines] == ["r0", "r1", "r2", "r3", "r4"]
    assert all(json.loads(line)["body"]["messages"][0]["content"].endswith(long) for line in lines)


async def test_a_line_that_is_no_request_is_named_before_anything_is_sent(provider: OpenAI, simulator: OpenAISimulator):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    files.blobs[str(order.requests)] += b'{"custom_id": "r1"}\n'
    with pytest.raises(SchemaInvalid, match="request 2"):
        await provider.prepare(order, files)
    assert simulator.files == {}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"options": {"window": "1h"}}, "window"),
        ({"options": {"locale": "en"}}, "locale"),
        ({"task_type": "transcription"}, "task_type"),
        ({"requests": None}, "requests"),
        ({"model": ""}, "model"),
    ],
)
async def test_what_an_order_asks_in_vain_is_refused_before_anything_is_sent(change: dict[str, Any], field: str):
    order = Order(**({"key": "tow-1", "task_type": "completion", "model": "gpt", "requests": "blob"} | change))
    with pytest.raises(SchemaInvalid) as refused:
        await OpenAI(api_key=KEY).check(order)
    assert refused.value.path == field


async def test_a_key_or_a_library_that_is_missing_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        await OpenAI().check()
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[openai\]"):
        await OpenAI(api_key=KEY).check()


async def test_a_batch_is_found_behind_hundreds_of_others(provider: OpenAI, simulator: OpenAISimulator):
    files = MemoryFiles()
    order = an_order(files, "tow-first", 1)
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    for number in range(250):
        simulator.accept(
            simulator.new_id("batch_"), f"other-{number}", simulator.jobs[external_id].request | {"metadata": None}, 1
        )
    by_key = await provider.find(order, {})
    assert by_key is not None
    assert by_key.external_id == external_id
    assert await provider.find(an_order(files, "tow-never", 1), {}) is None


async def test_a_batch_whose_metadata_a_service_did_not_keep_is_found_by_its_file(
    provider: OpenAI, simulator: OpenAISimulator
):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    simulator.jobs[external_id].request["metadata"] = None
    found = await provider.find(order, prepared)
    assert found is not None
    assert found.external_id == external_id


class Forgetful(OpenAISimulator):
    """It always lists the same page, and says that there is more."""

    async def _list(self, request: Request) -> Response:
        request.scope["query_string"] = b"limit=1"
        return await super()._list(request)


async def test_a_list_that_never_ends_is_not_followed_for_ever_nor_believed():
    simulator, files = Forgetful(), MemoryFiles()
    with served(simulator):
        provider = OpenAICompatible(api_key=KEY, base_url=f"{simulator.url}/v1")
        for key in ("tow-1", "tow-2", "tow-3"):
            order = an_order(files, key, 1)
            await provider.submit(order, await provider.prepare(order, files))
        with pytest.raises(Fatal, match="circles"):
            await provider.find(an_order(files, "tow-never", 1), {})
        await provider.aclose()


async def test_a_service_without_a_list_does_not_pass_for_one_without_the_batch(simulator: OpenAISimulator):
    provider = OpenAICompatible(api_key=KEY, base_url=f"{simulator.url}/elsewhere")
    with pytest.raises(Fatal, match="list"):
        await provider.find(an_order(MemoryFiles(), "tow-1", 1), {})
    await provider.aclose()


class Listening(OpenAISimulator):
    """It remembers the headers it was sent."""

    heard: dict[str, str]

    async def _retrieve(self, request: Request) -> Response:
        self.heard = dict(request.headers)
        return await super()._retrieve(request)


async def test_what_is_openais_is_not_sent_to_others(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, f"secret of {name}")
    simulator = Listening()
    with served(simulator):
        provider = OpenAICompatible(base_url=f"{simulator.url}/v1", api_key=KEY)
        with pytest.raises(Vanished):
            await provider.poll(an_order(MemoryFiles(), "tow-1", 1), {}, "batch_1")
        assert not [value for value in simulator.heard.values() if "secret of" in value]
        assert provider.called_back(*signed("batch.completed", secret="")) is None
        await provider.aclose()
    assert OpenAICompatible(base_url="http://127.0.0.1:9/v1")._client.api_key == "none"


def signed(kind: str, secret: str = WEBHOOK_SECRET, age: int = 0, batch: str = "batch_7") -> tuple[dict[str, str], bytes]:
    body = json.dumps({"id": "evt_1", "object": "event", "created_at": 1, "type": kind, "data": {"id": batch}}).encode()
    at = str(int(time.time()) - age)
    key = base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.new(key, f"wh_1.{at}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": "wh_1", "webhook-timestamp": at, "webhook-signature": signature}, body


async def test_a_webhook_tells_of_a_batch_only_if_openai_has_just_signed_it():
    provider = OpenAI(api_key=KEY, webhook_secret=WEBHOOK_SECRET)
    headers, body = signed("batch.completed")
    assert provider.called_back(headers, body) == "batch_7"
    assert provider.called_back({name.title(): value for name, value in headers.items()}, body) == "batch_7"
    assert provider.called_back(*signed("batch.failed")) == "batch_7"
    assert provider.called_back(*signed("response.completed")) is None
    assert provider.called_back(*signed("batch.completed", age=301)) is None
    assert provider.called_back(*signed("batch.completed", age=-301)) is None
    assert provider.called_back(*signed("batch.completed", secret="whsec_b3RoZXI=")) is None
    assert provider.called_back(headers, body.replace(b"batch_7", b"batch_8")) is None
    assert provider.called_back(headers | {"webhook-signature": "v1,ü"}, body) is None
    assert provider.called_back(headers | {"webhook-timestamp": "soon"}, body) is None
    assert provider.called_back({"webhook-id": "wh_1"}, body) is None


async def test_without_a_secret_no_webhook_is_believed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_WEBHOOK_SECRET", raising=False)
    assert OpenAI(api_key=KEY).called_back(*signed("batch.completed", secret="")) is None
    assert OpenAI(api_key=KEY, webhook_secret="").called_back(*signed("batch.completed", secret="")) is None


def failure(status: int, code: str | None = None, **headers: str) -> openai.APIStatusError:
    request = openai.AsyncOpenAI(api_key=KEY)._client.build_request("GET", "https://api.openai.com/v1/batches")
    kind = type(request).__module__.partition(".")[0]
    response = sys.modules[kind].Response(status, headers=headers, request=request)
    return openai.APIStatusError(f"no, {KEY}", response=response, body={"code": code})


@pytest.mark.parametrize(
    ("status", "code", "category"),
    [
        (400, None, SchemaInvalid),
        (401, "invalid_api_key", Fatal),
        (403, None, Fatal),
        (404, None, Vanished),
        (408, None, Transient),
        (409, None, Transient),
        (413, None, SchemaInvalid),
        (422, None, SchemaInvalid),
        (429, "rate_limit_exceeded", RateLimited),
        (429, "insufficient_quota", Fatal),
        (500, None, Transient),
        (503, None, Transient),
    ],
)
def test_every_answer_that_is_none_has_its_category(status: int, code: str | None, category: type[Exception]):
    found = translated("OPENAI", failure(status, code), "asking")
    assert type(found) is category
    assert "OPENAI" in str(found)
    if category is Fatal:
        assert KEY not in str(found)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "7", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}, 1),
        ({"retry-after": "0"}, 1),
        ({"retry-after": "nan"}, 30),
        ({"retry-after": "nonsense"}, 30),
        ({"retry-after": "inf"}, 30),
        ({}, 30),
    ],
)
def test_the_wait_is_what_was_asked_for_in_any_of_its_forms(headers: dict[str, str], seconds: float):
    found = translated("OPENAI", failure(429, **headers), "asking")
    assert isinstance(found, RateLimited)
    assert found.retry_after == seconds


async def test_nobody_at_the_other_end_is_transient():
    provider = OpenAI(api_key=KEY, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(Transient, match="could not be reached"):
        await provider.poll(an_order(MemoryFiles(), "tow-1", 1), {}, "batch_1")
    await provider.aclose()


class Slow(OpenAISimulator):
    async def _retrieve(self, request: Request) -> Response:
        await asyncio.sleep(0.5)
        return await super()._retrieve(request)


async def test_a_call_that_takes_too_long_is_given_up():
    simulator = Slow()
    with served(simulator):
        provider = OpenAI(api_key=KEY, base_url=f"{simulator.url}/v1", timeout=0.1)
        with pytest.raises(Transient):
            await provider.poll(an_order(MemoryFiles(), "tow-1", 1), {}, "batch_1")
        await provider.aclose()


class BreakingOff(OpenAISimulator):
    """Its connection is lost in the middle of the results."""

    async def _content(self, request: Request) -> Response:
        async def half() -> AsyncIterator[bytes]:
            yield b'{"custom_id": '

        return StreamingResponse(half(), headers={"content-length": "1000"})


async def test_a_connection_that_is_lost_in_the_middle_of_results_is_transient():
    simulator, files = BreakingOff(), MemoryFiles()
    with served(simulator):
        provider = OpenAI(api_key=KEY, base_url=f"{simulator.url}/v1")
        order = an_order(files, "tow-1", 2)
        prepared, external_id = await ended(provider, order, files)
        with pytest.raises(Transient, match="broke off"):
            _ = [result async for result in provider.fetch(order, prepared, external_id)]
        await provider.aclose()


async def test_what_is_done_with_a_result_is_not_on_the_providers_time(provider: OpenAI, monkeypatch: pytest.MonkeyPatch):
    timed: list[str] = []
    calling = provider._calling

    @asynccontextmanager
    async def watched(doing: str, seconds: float | None = None) -> AsyncIterator[None]:
        timed.append(doing)
        async with calling(doing, seconds):
            yield
        timed.remove(doing)

    files = MemoryFiles()
    order = an_order(files, "tow-1", 2)
    prepared, external_id = await ended(provider, order, files)
    monkeypatch.setattr(provider, "_calling", watched)
    assert [list(timed) async for _ in provider.fetch(order, prepared, external_id)] == [[], []]


async def test_what_was_done_before_a_batch_was_cancelled_can_be_fetched(provider: OpenAI, simulator: OpenAISimulator):
    simulator.arm(Fault.NEVER_ENDS)
    files = MemoryFiles()
    order = an_order(files, "tow-1", 3)
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    await provider.cancel(order, prepared, external_id)
    assert (await provider.poll(order, prepared, external_id)).phase is Phase.CANCELLED
    assert [result.ref async for result in provider.fetch(order, prepared, external_id)] == ["r0"]


async def test_a_batch_that_ended_or_is_gone_is_not_cancelled_and_nobody_is_told(provider: OpenAI):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared, external_id = await ended(provider, order, files)
    await provider.cancel(order, prepared, external_id)
    await provider.cancel(order, prepared, "batch_never")
    assert (await provider.poll(order, prepared, external_id)).phase is Phase.COMPLETED


@pytest.mark.parametrize(
    ("status", "completed", "phase"),
    [
        ("expired", 1, Phase.PARTIAL),
        ("expired", 0, Phase.FAILED),
        ("completed", 0, Phase.PARTIAL),
        ("finalizing", 0, Phase.RUNNING),
        ("cancelling", 0, Phase.RUNNING),
    ],
)
def test_every_status_is_a_phase(status: Any, completed: int, phase: Phase):
    batch = Batch(
        id="batch_1",
        object="batch",
        endpoint="/v1/chat/completions",
        input_file_id="file-1",
        completion_window="24h",
        created_at=1,
        status=status,
        request_counts=BatchRequestCounts(total=2, completed=completed, failed=2 - completed),
    )
    answer = answer_of(batch)
    assert answer.phase is phase
    assert answer.error or phase is not Phase.FAILED


def test_a_request_that_expired_has_no_answer_but_a_reason():
    error = {"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}
    result = result_of({"id": "1", "custom_id": "r1", "response": None, "error": error})
    assert (result.ok, result.code) == (False, "batch_expired")
    odd = result_of({"id": "1", "custom_id": "r1", "response": {"status_code": 502, "body": "<html>"}, "error": None})
    assert (odd.ok, odd.code) == (False, "502")
