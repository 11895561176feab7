"""What is particular to the Gemini API's batches, and to Google's library."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from google.auth.exceptions import DefaultCredentialsError, TransportError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.providers.cases import MemoryFiles, completion
from tests.providers.gemini import order as an_order
from tests.providers.google_library import errors, types
from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Order, Phase, Prepared, Vanished
from towpath.providers.chat_bodies import Untranslatable
from towpath.providers.gemini import Gemini
from towpath.providers.google_words import answer_of, request_of, result_of, translated
from towpath.providers.simulator import served
from towpath.providers.simulator.gemini import KEY, WEBHOOK_SECRET, GeminiSimulator


@pytest.fixture
def simulator() -> Iterator[GeminiSimulator]:
    made = GeminiSimulator()
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: GeminiSimulator) -> AsyncIterator[Gemini]:
    made = Gemini(api_key=KEY, base_url=simulator.url, webhook_secret=WEBHOOK_SECRET)
    yield made
    await made.aclose()


async def ended(provider: Gemini, order: Order, files: MemoryFiles) -> tuple[Prepared, str]:
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    while not (await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    return prepared, external_id


def asking(files: MemoryFiles, *bodies: dict[str, Any]) -> Order:
    return completion(files, "tow-1", len(bodies), "gemini-3.8-flash", lambda number: bodies[number])


def hello(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hello"}], **fields}


async def test_a_result_is_the_text_and_the_whole_response_with_its_tokens(provider: Gemini):
    files = MemoryFiles()
    said = "two\u2028lines and \U0001f6a3"
    order = asking(files, {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": said}]})
    prepared, external_id = await ended(provider, order, files)
    (result,) = [result async for result in provider.fetch(order, prepared, external_id)]
    assert result.body["text"] == f"You said: {said}"
    assert result.body["raw"]["candidates"][0]["finishReason"] == "STOP"
    assert result.tokens_in
    assert result.tokens_out


def test_a_chat_body_is_put_in_geminis_words():
    schema = {"type": "object", "properties": {}}
    body = {
        "messages": [
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "user", "content": "well?"},
        ],
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "stop": ["end"],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }
    assert request_of(body) == {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hello"}]},
            {"role": "model", "parts": [{"text": "hi"}]},
            {"role": "user", "parts": [{"text": "well?"}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 7,
            "temperature": 0.5,
            "topP": 0.9,
            "seed": 3,
            "stopSequences": ["end"],
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        },
    }
    assert request_of(hello()) == {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    types.GenerationConfig.model_validate(request_of(body)["generationConfig"])


def test_a_system_message_in_the_middle_is_refused():
    messages = [{"role": "user", "content": "hello"}, {"role": "system", "content": "be brief"}]
    with pytest.raises(Untranslatable, match="system"):
        request_of({"messages": messages})


async def test_what_cannot_be_sent_and_what_gemini_refuses_have_their_reasons(provider: Gemini, simulator: GeminiSimulator):
    files = MemoryFiles()
    order = asking(files, hello(), hello(tools=[]), hello(temperature=1))
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    simulator.jobs[external_id].request["lines"][1]["request"]["contents"][0]["role"] = "robot"
    while not (await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    results = {result.ref: result async for result in provider.fetch(order, prepared, external_id)}
    assert {ref: result.code for ref, result in results.items()} == {"r0": None, "r1": "unsupported", "r2": "3"}
    assert "role" in str(results["r2"].error)


def test_a_prompt_that_was_blocked_has_no_answer():
    blocked = result_of("r0", {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}})
    assert (blocked.ok, blocked.code) == (False, "SAFETY")
    assert not result_of("r0", None).ok


def test_thoughts_are_no_part_of_the_text_and_are_paid_for():
    parts = [{"text": "hm", "thought": True}, {"text": "yes"}]
    response = {
        "candidates": [{"content": {"role": "model", "parts": parts}}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "thoughtsTokenCount": 5},
    }
    result = result_of("r0", response)
    assert (result.body["text"], result.tokens_in, result.tokens_out) == ("yes", 3, 6)


async def test_requests_larger_than_one_chunk_of_an_upload_arrive_whole(provider: Gemini, simulator: GeminiSimulator):
    files = MemoryFiles()
    long = "word " * 400_000
    order = asking(files, *(hello(stop=[f"{number} {long}"]) for number in range(5)))
    external_id = await provider.submit(order, await provider.prepare(order, files))
    held = simulator.jobs[external_id].request["lines"]
    assert [line["key"] for line in held] == ["r0", "r1", "r2", "r3", "r4"]
    assert all(line["request"]["generationConfig"]["stopSequences"][0].endswith(long) for line in held)


async def test_a_job_is_found_behind_hundreds_of_others(provider: Gemini, simulator: GeminiSimulator):
    files = MemoryFiles()
    order = an_order(files, "tow-last", 1)
    held = {"batch": {"displayName": "somebody's"}, "model": "gemini", "lines": []}
    for number in range(230):
        simulator.accept(simulator.new_id("batches/b"), f"other-{number}", held, 1)
    external_id = await provider.submit(order, await provider.prepare(order, files))
    found = await provider.find(order, {})
    assert found is not None
    assert found.external_id == external_id
    assert await provider.find(an_order(files, "tow-never", 1), {}) is None


class Refusing(GeminiSimulator):
    """Its uploads never come to an end."""

    async def _upload(self, request: Request) -> Response:
        return JSONResponse({"error": {"code": 503, "message": "later"}}, 503, headers={"x-goog-upload-status": "cancelled"})


async def test_an_upload_that_fails_is_transient():
    simulator, files = Refusing(), MemoryFiles()
    with served(simulator):
        provider = Gemini(api_key=KEY, base_url=simulator.url)
        with pytest.raises(Transient):
            await provider.prepare(an_order(files, "tow-1", 1), files)
        await provider.aclose()


class Slow(GeminiSimulator):
    async def _get(self, request: Request) -> Response:
        await asyncio.sleep(0.5)
        return await super()._get(request)


async def test_a_call_that_takes_too_long_is_given_up():
    simulator = Slow()
    with served(simulator):
        provider = Gemini(api_key=KEY, base_url=simulator.url, timeout=0.1)
        with pytest.raises(Transient):
            await provider.poll(an_order(MemoryFiles(), "tow-1", 1), {}, "batches/b1")
        await provider.aclose()


async def test_a_submission_is_sent_once_though_nobody_answers():
    provider = Gemini(api_key=KEY, base_url="http://127.0.0.1:9")
    with pytest.raises(Transient, match="reached"):
        await provider.submit(an_order(MemoryFiles(), "tow-1", 1), {"file_name": "files/x"})
    await provider.aclose()


async def test_a_job_that_ended_or_is_gone_is_not_cancelled_and_nobody_is_told(provider: Gemini):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared, external_id = await ended(provider, order, files)
    await provider.cancel(order, prepared, external_id)
    await provider.cancel(order, prepared, "batches/never")
    assert (await provider.poll(order, prepared, external_id)).phase is Phase.COMPLETED


def signed(kind: str, secret: str = WEBHOOK_SECRET, age: int = 0, name: str = "batches/b7") -> tuple[dict[str, str], bytes]:
    body = json.dumps({"type": kind, "version": "v1", "data": {"id": name}}).encode()
    at = str(int(time.time()) - age)
    digest = hmac.new(
        base64.b64decode(secret.removeprefix("whsec_")), f"wh_1.{at}.".encode() + body, hashlib.sha256
    ).digest()
    signature = f"v1,other v1,{base64.b64encode(digest).decode()}"
    return {"Webhook-Id": "wh_1", "webhook-timestamp": at, "webhook-signature": signature}, body


def test_a_webhook_tells_of_a_batch_only_if_google_has_just_signed_it():
    provider = Gemini(api_key=KEY, webhook_secret=WEBHOOK_SECRET)
    headers, body = signed("batch.succeeded")
    assert provider.called_back(headers, body) == "batches/b7"
    assert provider.called_back(*signed("batch.failed", name="b7")) == "batches/b7"
    assert provider.called_back(*signed("video.generated")) is None
    assert provider.called_back(*signed("batch.succeeded", age=301)) is None
    assert provider.called_back(*signed("batch.succeeded", age=-301)) is None
    assert provider.called_back(*signed("batch.succeeded", secret="whsec_b3RoZXI=")) is None
    assert provider.called_back(headers, body.replace(b"b7", b"b8")) is None
    assert provider.called_back(headers | {"webhook-signature": "v1,ü"}, body) is None
    assert provider.called_back(headers | {"webhook-timestamp": "soon"}, body) is None
    assert Gemini(api_key=KEY).called_back(headers, body) is None
    assert Gemini(api_key=KEY, webhook_secret="no base64").called_back(headers, body) is None


@pytest.mark.parametrize(
    ("state", "failed", "phase"),
    [
        ("JOB_STATE_QUEUED", 0, Phase.RUNNING),
        ("JOB_STATE_PAUSED", 0, Phase.RUNNING),
        ("JOB_STATE_CANCELLING", 0, Phase.RUNNING),
        ("JOB_STATE_SUCCEEDED", 0, Phase.COMPLETED),
        ("JOB_STATE_SUCCEEDED", 1, Phase.PARTIAL),
        ("JOB_STATE_PARTIALLY_SUCCEEDED", 1, Phase.PARTIAL),
        ("JOB_STATE_FAILED", 0, Phase.FAILED),
        ("JOB_STATE_EXPIRED", 0, Phase.FAILED),
        ("JOB_STATE_CANCELLED", 0, Phase.CANCELLED),
        (None, 0, Phase.RUNNING),
    ],
)
def test_every_state_is_a_phase(state: Any, failed: int, phase: Phase):
    stats = types.CompletionStats(successful_count=1, failed_count=failed, incomplete_count=-1)
    answer = answer_of(types.BatchJob(name="batches/b1", state=state, completion_stats=stats))
    assert answer.phase is phase
    assert answer.counts is not None
    assert answer.counts.total == 1 + failed
    assert answer.error or phase is not Phase.FAILED


async def test_a_key_or_a_library_that_is_missing_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch):
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="GEMINI_API_KEY"):
        await Gemini().check()
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[google\]"):
        await Gemini(api_key=KEY).check()


def failure(status: int, *details: dict[str, Any]) -> errors.APIError:
    return errors.APIError(
        status, {"error": {"code": status, "message": f"no, {KEY}", "status": "X", "details": list(details)}}
    )


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (failure(400), SchemaInvalid),
        (failure(400, {"reason": "API_KEY_INVALID"}), Fatal),
        (failure(401), Fatal),
        (failure(403), Fatal),
        (failure(404), Vanished),
        (failure(429), RateLimited),
        (failure(500), Transient),
        (failure(503), Transient),
        (DefaultCredentialsError("none"), Fatal),
        (ValueError("no such model"), SchemaInvalid),
    ],
)
def test_every_answer_that_is_none_has_its_category(error: Exception, category: type[Exception]):
    found = translated("GEMINI", error, "asking")
    assert type(found) is category
    if category is Fatal:
        assert KEY not in str(found)


def test_what_is_no_failure_of_the_librarys_is_left_to_others():
    assert translated("GEMINI", TransportError("lost"), "asking") is None
    assert translated("GEMINI", RuntimeError(), "asking") is None


@pytest.mark.parametrize(("delay", "seconds"), [("3.5s", 3.5), ("0s", 1), ("soon", 30), (None, 30)])
def test_the_wait_is_what_was_asked_for(delay: str | None, seconds: float):
    details = [{"@type": "x"}, {"retryDelay": delay}] if delay else []
    found = translated("GEMINI", failure(429, *details), "asking")
    assert isinstance(found, RateLimited)
    assert found.retry_after == seconds
