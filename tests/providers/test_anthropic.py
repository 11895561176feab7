"""What is particular to Anthropic's Message Batches."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.types.messages import MessageBatch, MessageBatchRequestCounts

from tests.providers.anthropic import order as an_order
from tests.providers.cases import MemoryFiles, completion
from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Order, Phase, Prepared, Vanished
from towpath.providers.anthropic import Anthropic
from towpath.providers.anthropic_words import answer_of, params_of, ref_of, result_of, sent_id, translated
from towpath.providers.chat_bodies import Untranslatable
from towpath.providers.simulator import served
from towpath.providers.simulator.anthropic import KEY, AnthropicSimulator


@pytest.fixture
def simulator() -> Iterator[AnthropicSimulator]:
    made = AnthropicSimulator()
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: AnthropicSimulator) -> AsyncIterator[Anthropic]:
    made = Anthropic(api_key=KEY, base_url=simulator.url)
    yield made
    await made.aclose()


async def ended(provider: Anthropic, order: Order, files: MemoryFiles) -> tuple[Prepared, str]:
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    while not (await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    return prepared, external_id


def asking(files: MemoryFiles, *bodies: dict[str, Any]) -> Order:
    return completion(files, "tow-1", len(bodies), "claude-opus-5", lambda number: bodies[number])


def hello(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hello"}], **fields}


async def test_a_result_is_the_text_and_the_whole_message_with_its_tokens(provider: Anthropic):
    files = MemoryFiles()
    said = "two\u2028lines and \U0001f6a3"
    order = asking(
        files, {"messages": [{"role": "system", "content": "be very brief indeed"}, {"role": "user", "content": said}]}
    )
    prepared, external_id = await ended(provider, order, files)
    (result,) = [result async for result in provider.fetch(order, prepared, external_id)]
    assert result.body["text"] == f"You said: {said}"
    assert result.body["raw"]["type"] == "message"
    assert (result.tokens_in or 0) > (result.tokens_out or 0) > 0


def test_a_chat_body_is_put_in_anthropics_words():
    schema = {"type": "object", "properties": {}}
    body = {
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "system", "content": "be briefer"},
            {"role": "user", "content": "well?"},
        ],
        "max_completion_tokens": 7,
        "stop": "end",
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }
    assert params_of(body, "claude-opus-5", 4096) == {
        "model": "claude-opus-5",
        "max_tokens": 7,
        "system": [{"type": "text", "text": "be brief"}],
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "system", "content": "be briefer"},
            {"role": "user", "content": "well?"},
        ],
        "stop_sequences": ["end"],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }
    assert params_of(hello(), "claude-opus-5", 4096)["max_tokens"] == 4096


@pytest.mark.parametrize("field", [{"temperature": 0.5}, {"top_p": 0.9}, {"response_format": {"type": "json_object"}}])
def test_what_anthropic_no_longer_has_is_refused(field: dict[str, Any]):
    with pytest.raises(Untranslatable):
        params_of(hello(**field), "claude-opus-5", 4096)


async def test_a_request_that_cannot_be_sent_is_told_and_the_others_are_answered(
    provider: Anthropic, simulator: AnthropicSimulator
):
    files = MemoryFiles()
    order = asking(files, hello(), hello(temperature=0.5), hello(tools=[]))
    prepared, external_id = await ended(provider, order, files)
    assert simulator.ledger.paid[0].units == 1
    results = {result.ref: result async for result in provider.fetch(order, prepared, external_id)}
    assert {ref: (result.ok, result.code) for ref, result in results.items()} == {
        "r0": (True, None),
        "r1": (False, "unsupported"),
        "r2": (False, "unsupported"),
    }
    assert "temperature" in str(results["r1"].error)
    json.dumps(prepared)


@pytest.mark.parametrize("ref", ["r0", "a" * 47, "with spaces", "ünï/cödé", "a.b:c", "x" * 20 + "." * 15, "-", "_"])
def test_a_ref_comes_back_as_it_was_given(ref: str):
    custom_id = sent_id("tow-1", ref)
    assert len(custom_id) <= 64
    assert set(custom_id) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert ref_of(custom_id)[1] == ref
    assert ref_of(custom_id)[0] != ref_of(sent_id("tow-2", ref))[0]


@pytest.mark.parametrize("ref", ["a" * 48, "." * 36])
def test_a_ref_that_is_too_long_is_refused(ref: str):
    with pytest.raises(Untranslatable, match="too long"):
        sent_id("tow-1", ref)


async def test_a_batch_that_has_ended_is_recognised_among_others(provider: Anthropic, simulator: AnthropicSimulator):
    files = MemoryFiles()
    order, twin = an_order(files, "tow-1", 2), an_order(files, "tow-2", 2)
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    assert await provider.find(order, prepared) is None  # nobody can tell what is in a batch that is under way
    await ended(provider, twin, files)
    while not (await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    await provider.submit(an_order(files, "tow-3", 1), prepared)
    found = await provider.find(order, prepared)
    assert found is not None
    assert found.external_id == external_id
    assert await provider.find(an_order(files, "tow-never", 2), prepared) is None


async def test_a_batch_is_found_on_a_later_page_and_not_among_those_from_before_its_order(
    provider: Anthropic, simulator: AnthropicSimulator, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("towpath.providers.anthropic._PAGE", 10)
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared, external_id = await ended(provider, order, files)
    held = simulator.jobs[external_id].request
    for number in range(25):
        simulator.accept(simulator.new_id("msgbatch_"), f"other-{number}", held, 1)
    found = await provider.find(order, prepared)
    assert found is not None
    assert found.external_id == external_id
    held["made_at"] = datetime.now(UTC) - timedelta(days=3)
    assert await provider.find(order, prepared) is None


async def test_an_order_that_another_process_prepared_is_submitted_if_its_requests_can_be_read(
    simulator: AnthropicSimulator,
):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    first, second = Anthropic(api_key=KEY, base_url=simulator.url), Anthropic(api_key=KEY, base_url=simulator.url)
    third = Anthropic(api_key=KEY, base_url=simulator.url, files=files)
    prepared = await first.prepare(order, files)
    with pytest.raises(Transient, match="prepare"):
        await second.submit(order, prepared)
    assert await third.submit(order, prepared)
    for provider in (first, second, third):
        await provider.aclose()


async def test_requests_larger_than_any_buffer_arrive_whole(provider: Anthropic, simulator: AnthropicSimulator):
    files = MemoryFiles()
    long = "word " * 100_000
    order = asking(files, *(hello(stop=[f"{number} {long}"]) for number in range(5)))
    external_id = await provider.submit(order, await provider.prepare(order, files))
    sent = simulator.jobs[external_id].request["requests"]
    assert [one["params"]["stop_sequences"] for one in sent] == [[f"{number} {long}"] for number in range(5)]


async def test_a_request_that_anthropic_refuses_has_its_reason(provider: Anthropic, simulator: AnthropicSimulator):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 2)
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    simulator.jobs[external_id].request["requests"][1]["params"]["temperature"] = 1
    while not (answer := await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    assert answer.phase is Phase.PARTIAL
    results = {result.ref: result async for result in provider.fetch(order, prepared, external_id)}
    assert results["r1"].code == "invalid_request_error"
    assert "temperature" in str(results["r1"].error)


async def test_a_batch_that_ended_or_is_gone_is_not_cancelled_and_nobody_is_told(provider: Anthropic):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared, external_id = await ended(provider, order, files)
    await provider.cancel(order, prepared, external_id)
    await provider.cancel(order, prepared, "msgbatch_never")
    assert (await provider.poll(order, prepared, external_id)).phase is Phase.COMPLETED


def batch(status: Any = "ended", *, cancelled: bool = False, **counts: int) -> MessageBatch:
    now = datetime.now(UTC)
    full: Any = dict.fromkeys(("canceled", "errored", "expired", "processing", "succeeded"), 0) | counts
    return MessageBatch(
        id="msgbatch_1",
        type="message_batch",
        created_at=now,
        expires_at=now,
        processing_status=status,
        cancel_initiated_at=now if cancelled else None,
        request_counts=MessageBatchRequestCounts(**full),
    )


@pytest.mark.parametrize(
    ("given", "phase"),
    [
        (batch("in_progress", processing=2), Phase.RUNNING),
        (batch("canceling", processing=2, cancelled=True), Phase.RUNNING),
        (batch(succeeded=2), Phase.COMPLETED),
        (batch(succeeded=1, errored=1), Phase.PARTIAL),
        (batch(succeeded=1, expired=1), Phase.PARTIAL),
        (batch(errored=2), Phase.PARTIAL),
        (batch(succeeded=1, canceled=1, cancelled=True), Phase.CANCELLED),
        (batch(succeeded=2, cancelled=True), Phase.COMPLETED),
    ],
)
def test_every_status_is_a_phase(given: MessageBatch, phase: Phase):
    assert answer_of(given).phase is phase


@pytest.mark.parametrize("kind", ["expired", "canceled", "of a kind nobody knows"])
def test_a_request_without_an_answer_has_a_reason(kind: str):
    result = result_of({"custom_id": sent_id("tow-1", "r1"), "result": {"type": kind}})
    assert (result.ref, result.ok, result.code) == ("r1", False, kind)


async def test_results_that_were_put_away_are_not_asked_for_again_and_again(
    provider: Anthropic, simulator: AnthropicSimulator
):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared, external_id = await ended(provider, order, files)
    made = simulator._batch
    simulator._batch = lambda job, state: made(job, state).model_copy(update={"archived_at": datetime.now(UTC)})  # type: ignore[method-assign]
    with pytest.raises(Fatal, match="put away"):
        _ = [result async for result in provider.fetch(order, prepared, external_id)]


async def test_a_key_or_a_library_that_is_missing_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("API_KEY", "AUTH_TOKEN", "PROFILE", "IDENTITY_TOKEN", "IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        await Anthropic().check()
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        await Anthropic().check()
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[anthropic\]"):
        await Anthropic(api_key=KEY).check()


async def test_a_window_of_another_length_is_refused():
    with pytest.raises(SchemaInvalid, match="24h"):
        await Anthropic(api_key=KEY).check(Order("tow-1", "completion", "claude", requests="blob", options={"window": "1h"}))


def failure(status: int, kind: str | None = None, **headers: str) -> anthropic.APIStatusError:
    request = anthropic.AsyncAnthropic(api_key=KEY)._client.build_request(
        "GET", "https://api.anthropic.com/v1/messages/batches"
    )
    module = sys.modules[type(request).__module__.partition(".")[0]]
    body = {"type": "error", "error": {"type": kind, "message": f"no, {KEY}"}} if kind else "<html>"
    response = module.Response(status, headers=headers, request=request)
    return anthropic.APIStatusError("no", response=response, body=body)


@pytest.mark.parametrize(
    ("status", "kind", "category"),
    [
        (400, "invalid_request_error", SchemaInvalid),
        (400, "billing_error", Fatal),
        (401, "authentication_error", Fatal),
        (403, "permission_error", Fatal),
        (404, "not_found_error", Vanished),
        (413, "request_too_large", SchemaInvalid),
        (429, "rate_limit_error", RateLimited),
        (500, "api_error", Transient),
        (502, None, Transient),
        (529, "overloaded_error", Transient),
    ],
)
def test_every_answer_that_is_none_has_its_category(status: int, kind: str | None, category: type[Exception]):
    found = translated("ANTHROPIC", failure(status, kind), "asking")
    assert type(found) is category
    if category is Fatal:
        assert KEY not in str(found)
