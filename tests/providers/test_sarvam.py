"""What is particular to Sarvam's batch speech-to-text."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.providers import sarvam
from tests.providers.cases import MemoryFiles
from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Answer, Counts, Order, Phase, Vanished
from towpath.providers.sarvam import SarvamSpeech
from towpath.providers.sarvam_api import NoSuchJob, category
from towpath.providers.simulator import Fault, served
from towpath.providers.simulator import sarvam as simulated
from towpath.providers.simulator.sarvam import KEY, SarvamSimulator


@pytest.fixture
def simulator() -> Iterator[SarvamSimulator]:
    made = SarvamSimulator()
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: SarvamSimulator) -> AsyncIterator[SarvamSpeech]:
    made = sarvam.adapter(simulator)
    yield made
    await made.aclose()


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def order(files: MemoryFiles, key: str = "tow-1", count: int = 1, **changes: Any) -> Order:
    return replace(sarvam.order(files, key, count), **changes)


async def ended(provider: SarvamSpeech, asked: Order, job: str) -> Answer:
    while not (answer := await provider.poll(asked, {}, job)).phase.ended:
        pass
    return answer


async def test_nothing_costs_until_a_job_is_started(simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles):
    asked = order(files)
    prepared = await provider.prepare(asked, files)
    assert list(prepared) == ["job_id"]
    assert await provider.find(asked, prepared) is None
    assert not simulator.ledger.paid
    assert await provider.submit(asked, prepared) == prepared["job_id"]
    assert [entry.key for entry in simulator.ledger.paid] == ["tow-1.0.wav"]


async def test_a_start_whose_answer_was_lost_is_found_by_the_id_that_was_stored(
    simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles
):
    asked = order(files)
    prepared = await provider.prepare(asked, files)
    simulator.arm(Fault.LOST_ANSWER)
    with pytest.raises(Transient):
        await provider.submit(asked, prepared)
    found = await provider.find(asked, prepared)
    assert found is not None
    assert found.external_id == prepared["job_id"]
    assert await provider.submit(asked, prepared) == prepared["job_id"]  # it refuses to be started again
    assert len(simulator.ledger.paid) == 1


async def test_a_job_that_cannot_be_started_is_invalid(
    simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles
):
    prepared = await provider.prepare(order(files), files)
    simulator.drafts[prepared["job_id"]].uploaded.clear()
    with pytest.raises(SchemaInvalid, match="Not all files"):
        await provider.submit(order(files), prepared)


async def test_a_reserved_job_that_is_gone_is_not_found(provider: SarvamSpeech, files: MemoryFiles):
    assert await provider.find(order(files), {"job_id": "none"}) is None


class Streamed(MemoryFiles):
    """A file that is never whole in memory here, and knows how much of it was asked for at a time."""

    size_of_it, piece = 3 * 1024 * 1024, 64 * 1024

    async def open(self, blob: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        for _ in range(self.size_of_it // self.piece):
            yield b"\0" * self.piece

    async def size(self, blob: str) -> int:
        return self.size_of_it


async def test_files_go_up_as_they_are_read(simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles):
    prepared = await provider.prepare(order(files), Streamed())
    assert {name: len(body) for name, body in simulator.drafts[prepared["job_id"]].uploaded.items()} == {
        "tow-1.0.wav": Streamed.size_of_it
    }


async def test_files_of_one_name_are_told_apart(provider: SarvamSpeech, files: MemoryFiles):
    asked = order(files, count=3)
    asked = replace(asked, inputs=tuple(replace(given, filename="call.mp3") for given in asked.inputs))
    prepared = await provider.prepare(asked, files)
    job = await provider.submit(asked, prepared)
    await ended(provider, asked, job)
    said = {result.ref: result.body["transcript"] async for result in provider.fetch(asked, prepared, job)}
    assert said["r2"] == "This is tow-1.2.mp3, of 12 bytes."
    assert len(set(said.values())) == 3


async def test_an_upload_that_the_storage_refuses_is_transient(
    simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles
):
    await provider.check()
    with pytest.raises(Transient, match="answered 403") as refused:
        await provider._api.upload(f"{simulator.url}/blobs/a.wav?sig=expired", Streamed(), "a", "a.wav")
    assert "expired" not in str(refused.value)
    with pytest.raises(Transient, match="did not reach"):
        await provider._api.upload("http://127.0.0.1:1/a.wav?sig=x", Streamed(), "a", "a.wav")


@pytest.mark.parametrize("word", ["PartiallyCompleted", "Completed"])
async def test_a_job_with_files_that_failed_is_partial_whatever_it_is_called(
    simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles, word: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(simulated._STATES, "partial", word)
    simulator.arm(Fault.PARTIAL)
    asked = order(files, count=3)
    prepared = await provider.prepare(asked, files)
    job = await provider.submit(asked, prepared)
    answer = await ended(provider, asked, job)
    assert (answer.status, answer.phase, answer.counts) == (word, Phase.PARTIAL, Counts(3, 2, 1))
    failed = [result async for result in provider.fetch(asked, prepared, job) if not result.ok]
    assert [(result.ref, result.error, result.code) for result in failed] == [
        ("r1", "The audio cannot be read.", "BadAudio")
    ]


async def test_what_was_asked_for_is_what_is_sent(simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles):
    asked = order(files, options={"locale": "hi-IN", "diarization": 3}, callback="https://towpath.example/called")
    await provider.check(asked)
    draft = simulator.drafts[(await provider.prepare(asked, files))["job_id"]]
    assert draft.parameters.model_dump(exclude_none=True) == {
        "language_code": "hi-IN",
        "model": "saaras:v3",
        "with_timestamps": True,
        "with_diarization": True,
        "num_speakers": 3,
    }
    assert draft.callback is not None
    assert draft.callback.model_dump() == {"url": "https://towpath.example/called", "auth_token": sarvam.CALLBACK_TOKEN}
    plain = simulator.drafts[(await provider.prepare(order(files, options={}, model=""), files))["job_id"]]
    assert plain.parameters.model_dump(exclude_none=True) == {"language_code": "unknown", "with_timestamps": True}
    assert plain.callback is None


async def test_without_a_token_nobody_is_asked_to_call_back(simulator: SarvamSimulator, files: MemoryFiles):
    provider = SarvamSpeech(key=KEY, endpoint=simulator.url)
    prepared = await provider.prepare(order(files, callback="https://towpath.example/called"), files)
    assert simulator.drafts[prepared["job_id"]].callback is None
    await provider.aclose()


async def test_what_there_is_no_word_for_is_refused_before_anything_is_sent(provider: SarvamSpeech, files: MemoryFiles):
    await provider.check(order(files, count=20))
    for asked, said in [
        (order(files, count=21), "20 files at most"),
        (order(files, options={"word_timestamps": True}), "not words"),
        (order(files, options={"window": "24h"}), "no word for window"),
        (order(files, output="s3://mine"), "takes no folder"),
        (order(files, inputs=(replace(order(files).inputs[0], blob=None, uri="s3://a/b"),)), "no content here"),
    ]:
        with pytest.raises(SchemaInvalid, match=said):
            await provider.check(asked)


async def test_an_order_that_the_service_refuses_is_invalid(provider: SarvamSpeech, files: MemoryFiles):
    for changes in ({"options": {"locale": "de-DE"}}, {"model": "none:v1"}):
        with pytest.raises(SchemaInvalid, match="invalid_request_error"):
            await provider.prepare(order(files, **changes), files)
    with pytest.raises(SchemaInvalid, match="1 to 20 files"):
        await provider.prepare(order(files, count=21), files)


async def test_a_wrong_key_is_fatal_and_not_told(simulator: SarvamSimulator, files: MemoryFiles):
    provider = SarvamSpeech(key="another-secret", endpoint=simulator.url)
    with pytest.raises(Fatal) as refused:
        await provider.prepare(order(files), files)
    assert "secret" not in str(refused.value)
    await provider.aclose()


async def test_an_endpoint_of_something_else_is_fatal_and_one_of_nobody_transient(
    simulator: SarvamSimulator, files: MemoryFiles
):
    for endpoint, expected in ((f"{simulator.url}/elsewhere", Fatal), ("http://127.0.0.1:1", Transient)):
        provider = SarvamSpeech(key=KEY, endpoint=endpoint)
        with pytest.raises(expected):
            await provider.prepare(order(files), files)
        await provider.aclose()


async def test_nothing_is_tried_again_by_the_library(simulator: SarvamSimulator, provider: SarvamSpeech, files: MemoryFiles):
    simulator.arm(Fault.UNAVAILABLE, times=2)
    with pytest.raises(Transient):
        await provider.prepare(order(files), files)
    assert simulator.faults.left() == {Fault.UNAVAILABLE: 1}


async def test_a_missing_key_or_package_is_said_at_once(monkeypatch: pytest.MonkeyPatch):
    from sarvamai import AsyncSarvamAI

    # The library reads its variable when it is imported.
    monkeypatch.setitem(AsyncSarvamAI.__init__.__kwdefaults__, "api_subscription_key", None)
    without = SarvamSpeech()
    with pytest.raises(ConfigurationError, match="SARVAM_API_KEY"):
        await without.check()
    await without.aclose()
    monkeypatch.setitem(AsyncSarvamAI.__init__.__kwdefaults__, "api_subscription_key", "of the environment")
    with_it = SarvamSpeech()
    await with_it.check()
    await with_it.aclose()
    monkeypatch.setitem(sys.modules, "sarvamai", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[sarvam\]"):
        await SarvamSpeech(key=KEY).check()


def called_back(token: str | None, body: Any, name: str = "X-SARVAM-JOB-CALLBACK-TOKEN") -> str | None:
    provider = SarvamSpeech(callback_token=sarvam.CALLBACK_TOKEN)
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return provider.called_back({name: token} if token is not None else {}, sent)


def test_a_callback_with_the_right_token_tells_of_its_job():
    assert called_back(sarvam.CALLBACK_TOKEN, {"job_id": "3b7", "job_state": "Completed"}) == "3b7"
    assert called_back(sarvam.CALLBACK_TOKEN, {"job_id": "3b7"}, name="x-sarvam-job-callback-token") == "3b7"


@pytest.mark.parametrize("body", [b"\xff", b"[]", {}, {"job_id": ""}, {"job_id": 3}, b"null"])
def test_a_callback_that_tells_of_no_job_is_nobodys(body: Any):
    assert called_back(sarvam.CALLBACK_TOKEN, body) is None


@pytest.mark.parametrize("token", [None, "", "a-token-from-before", "ü"])
def test_a_callback_with_another_token_is_nobodys(token: str | None):
    assert called_back(token, {"job_id": "3b7"}) is None
    assert SarvamSpeech().called_back({"x-sarvam-job-callback-token": token or ""}, b'{"job_id": "3b7"}') is None


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "invalid_request_error", SchemaInvalid),
        (403, "invalid_api_key_error", Fatal),
        (404, "not_found_error", Vanished),
        (422, "unprocessable_entity_error", SchemaInvalid),
        (429, "rate_limit_exceeded_error", RateLimited),
        (429, "insufficient_quota_error", Fatal),
        (500, "internal_server_error", Transient),
        (503, "billing_service_unavailable_error", Transient),
        (504, "gateway_timeout_error", Transient),
        (200, "", Transient),
        (None, "", Transient),
    ],
)
def test_what_sarvam_says_has_its_category(status: int | None, code: str, expected: type[Exception]):
    body = {"error": {"message": "as it is", "code": code}}
    in_its_words = NoSuchJob if expected is Vanished else expected  # the 404 of another service is none of its jobs
    assert type(category(status, {"Retry-After": "2"}, body)) is in_its_words
    assert type(category(status, None, "<html>no JSON</html>")) is (RateLimited if status == 429 else expected)
