"""What is particular to Azure's batch transcription."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.providers import azure
from tests.providers.cases import MemoryFiles
from towpath import ConfigurationError, Fatal, SchemaInvalid, Transient
from towpath.providers import Counts, Order, Phase
from towpath.providers.azure import AzureSpeech
from towpath.providers.simulator import Fault, served
from towpath.providers.simulator.azure import KEY, LOOK_AGAIN, AzureSimulator


@pytest.fixture
def simulator() -> Iterator[AzureSimulator]:
    made = AzureSimulator(page=2)
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: AzureSimulator) -> AsyncIterator[AzureSpeech]:
    made = azure.adapter(simulator)
    yield made
    await made.aclose()


def order(key: str = "tow-1", count: int = 1, **changes: Any) -> Order:
    return replace(azure.order(MemoryFiles(), key, count), **changes)


async def ended(provider: AzureSpeech, asked: Order, job: str) -> Any:
    while not (answer := await provider.poll(asked, {}, job)).phase.ended:
        pass
    return answer


async def test_a_job_is_found_and_its_files_are_listed_over_several_pages(simulator: AzureSimulator, provider: AzureSpeech):
    jobs = [await provider.submit(order("tow-1", count=5), {}) for _ in range(3)]
    other = await provider.submit(order("tow-10"), {})
    found = await provider.find(order("tow-1"), {})
    assert found is not None
    assert found.external_id == jobs[0]  # the first, if somebody has submitted the same order again
    assert other not in jobs
    asked = order("tow-1", count=5)
    await ended(provider, asked, jobs[0])
    assert {result.ref async for result in provider.fetch(asked, {}, jobs[0])} == {"r0", "r1", "r2", "r3", "r4"}


async def test_a_link_to_a_next_page_elsewhere_does_not_get_the_key(simulator: AzureSimulator, provider: AzureSpeech):
    for _ in range(3):
        await provider.submit(order("tow-1"), {})
    here, simulator.url = simulator.url, "http://127.0.0.1:1"
    assert len([job async for job in provider._api.pages("", {})]) == 3
    simulator.url = here


async def test_the_time_to_look_again_is_passed_on(provider: AzureSpeech):
    job = await provider.submit(order(), {})
    assert (await provider.poll(order(), {}, job)).retry_after == LOOK_AGAIN


async def test_a_job_that_succeeded_although_files_failed_is_partial(simulator: AzureSimulator, provider: AzureSpeech):
    simulator.arm(Fault.PARTIAL)
    asked = order(count=3)
    job = await provider.submit(asked, {})
    answer = await ended(provider, asked, job)
    assert (answer.status, answer.phase, answer.counts) == ("Succeeded", Phase.PARTIAL, Counts(3, 2, 1))
    failed = [result async for result in provider.fetch(asked, {}, job) if not result.ok]
    assert [(result.ref, result.code) for result in failed] == [("r1", "InvalidData")]


async def test_a_job_that_failed_still_tells_of_each_file(simulator: AzureSimulator, provider: AzureSpeech):
    simulator.arm(Fault.FAILS)
    asked = order(count=2)
    job = await provider.submit(asked, {})
    answer = await ended(provider, asked, job)
    assert answer.error == "InvalidData: The data of all files is invalid."
    assert [result.ok async for result in provider.fetch(asked, {}, job)] == [False, False]


async def test_a_job_that_has_ended_is_not_cancelled_for_that_would_delete_its_results(provider: AzureSpeech):
    job = await provider.submit(order(), {})
    await ended(provider, order(), job)
    await provider.cancel(order(), {}, job)
    assert [result.ref async for result in provider.fetch(order(), {}, job)] == ["r0"]


async def test_results_are_told_apart_though_their_source_lost_its_signature(provider: AzureSpeech):
    asked = order(count=2)
    job = await provider.submit(asked, {})
    await ended(provider, asked, job)
    stripped = replace(asked, inputs=tuple(replace(given, uri=f"{given.uri}&other") for given in asked.inputs))
    results = {result.ref: result async for result in provider.fetch(stripped, {}, job)}
    assert results["r1"].body["combinedRecognizedPhrases"][0]["display"] == "This is file1.wav."


async def test_what_was_asked_for_is_what_is_sent(simulator: AzureSimulator, provider: AzureSpeech):
    model = "https://westus.api.cognitive.microsoft.com/speechtotext/models/base/1"
    asked = order(model=model, options={"locale": "de-DE", "diarization": 3, "word_timestamps": True})
    await provider.check(asked)
    job = await provider.submit(asked, {})
    sent = simulator.jobs[job].request.body()
    assert sent["model"] == {"self": model}
    assert sent["locale"] == "de-DE"
    assert sent["properties"] == {
        "timeToLiveHours": 48,
        "displayFormWordLevelTimestampsEnabled": True,
        "diarization": {"enabled": True, "maxSpeakers": 3},
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": {}}, "needs to know the language"),
        ({"output": "https://mine.blob.core.windows.net/results"}, "takes no folder"),
        ({"options": {"locale": "en-US", "window": "24h"}}, "no word for window"),
    ],
)
async def test_what_there_is_no_word_for_is_refused_before_anything_is_sent(
    provider: AzureSpeech, changes: dict[str, Any], said: str
):
    with pytest.raises(SchemaInvalid, match=said):
        await provider.check(order(**changes))


async def test_more_files_than_a_job_takes_and_files_of_one_address_are_refused(provider: AzureSpeech):
    await provider.check(order(count=1000))
    with pytest.raises(SchemaInvalid, match="1000 files at most"):
        await provider.check(order(count=1001))
    given = order(count=2).inputs
    with pytest.raises(SchemaInvalid, match="same address"):
        await provider.check(order(inputs=(given[0], replace(given[1], uri=given[0].uri))))
    with pytest.raises(SchemaInvalid, match="https:// only"):
        await provider.check(order(inputs=(replace(given[0], uri="s3://bucket/a.wav"),)))


async def test_an_order_that_the_service_refuses_is_invalid(simulator: AzureSimulator, provider: AzureSpeech):
    with pytest.raises(SchemaInvalid, match="contentUrls"):
        await provider.submit(order(inputs=()), {})
    assert not simulator.ledger.paid


async def test_a_wrong_key_is_fatal_and_not_told(simulator: AzureSimulator):
    provider = AzureSpeech(endpoint=simulator.url, key="another-secret")
    with pytest.raises(Fatal) as refused:
        await provider.submit(order(), {})
    assert "secret" not in str(refused.value)
    await provider.aclose()


async def test_an_endpoint_of_something_else_is_fatal_and_one_of_nobody_transient(simulator: AzureSimulator):
    elsewhere = AzureSpeech(endpoint=f"{simulator.url}/elsewhere", key=KEY)
    with pytest.raises(Fatal, match="404"):
        await elsewhere.submit(order(), {})
    await elsewhere.aclose()
    nobody = AzureSpeech(endpoint="http://127.0.0.1:1", key=KEY)
    with pytest.raises(Transient, match="could not be reached"):
        await nobody.submit(order(), {})
    await nobody.aclose()


async def test_a_missing_endpoint_key_or_package_is_said_at_once(monkeypatch: pytest.MonkeyPatch):
    for options in ({}, {"key": KEY}, {"endpoint": "https://x.example"}, {"endpoint": "x.example", "key": KEY}):
        with pytest.raises(ConfigurationError, match="endpoint"):
            await AzureSpeech(**options).check()
    with pytest.raises(ConfigurationError, match="31 days"):
        await AzureSpeech(endpoint="https://x.example", key=KEY, keep_hours=3).check()
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[azure\]"):
        await AzureSpeech().check()


def notice(self: str = "https://x.example/speechtotext/transcriptions/3b7?api-version=2024-11-15") -> bytes:
    return json.dumps({"self": self, "invocationId": "1"}).encode()


def signed(body: bytes, secret: str = azure.WEBHOOK_SECRET, event: str = "TranscriptionCompletion") -> dict[str, str]:
    signature = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
    return {"X-MicrosoftSpeechServices-Signature": signature, "X-MicrosoftSpeechServices-Event": event}


def called_back(headers: dict[str, str], body: bytes, secret: str | None = azure.WEBHOOK_SECRET) -> str | None:
    return AzureSpeech(webhook_secret=secret).called_back(headers, body)


def test_a_notice_with_the_right_signature_tells_of_its_job():
    assert called_back(signed(notice()), notice()) == "3b7"
    lower = {name.lower(): value for name, value in signed(notice()).items()}
    assert called_back(lower, notice()) == "3b7"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (signed(notice(), secret="a-secret-from-before"), notice()),
        (signed(notice()), notice("https://x.example/speechtotext/transcriptions/another")),
        (signed(notice(), event="TranscriptionCreation"), notice()),
        (signed(b"[]"), b"[]"),
        (signed(b'{"self": 1}'), b'{"self": 1}'),
        (signed(b"\xff"), b"\xff"),
    ],
    ids=["old secret", "changed body", "other event", "no object", "no address", "no text"],
)
def test_a_notice_that_is_not_right_is_nobodys(headers: dict[str, str], body: bytes):
    assert called_back(headers, body) is None


def test_without_a_secret_no_notice_is_believed():
    assert called_back(signed(notice(), secret=""), notice(), secret=None) is None


CHALLENGE = {"X-MicrosoftSpeechServices-Event": "Challenge"}


def test_a_new_webhook_is_answered_with_its_token_so_that_it_comes_to_life():
    provider = AzureSpeech(webhook_secret=azure.WEBHOOK_SECRET)
    token = {"validationToken": "e062725f-75d6"}
    assert provider.challenge(CHALLENGE, token) == "e062725f-75d6"
    assert provider.challenge({name.lower(): value.lower() for name, value in CHALLENGE.items()}, token) == "e062725f-75d6"


@pytest.mark.parametrize(
    ("secret", "headers", "query"),
    [
        (None, CHALLENGE, {"validationToken": "e062"}),
        ("s", {"X-MicrosoftSpeechServices-Event": "Ping"}, {"validationToken": "e062"}),
        ("s", CHALLENGE, {}),
        ("s", CHALLENGE, {"validationToken": "<script>alert(1)</script>"}),
        ("s", CHALLENGE, {"validationToken": "e" * 201}),
    ],
    ids=["no webhook wanted", "other event", "no token", "no token of theirs", "too long"],
)
def test_what_is_no_challenge_is_not_said_after_anybody(secret: str | None, headers: dict[str, str], query: dict[str, str]):
    assert AzureSpeech(webhook_secret=secret).challenge(headers, query) is None
