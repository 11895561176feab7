"""What is particular to Google's batch recognition."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.providers import google
from tests.providers.cases import MemoryFiles
from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Answer, Counts, Order, Phase, Vanished
from towpath.providers.google import GoogleSpeech
from towpath.providers.google_errors import translated
from towpath.providers.simulator import Fault, SimulatedJob, served
from towpath.providers.simulator.google import GoogleSimulator


@pytest.fixture
def simulator() -> Iterator[GoogleSimulator]:
    made = GoogleSimulator(page=2)
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: GoogleSimulator) -> AsyncIterator[GoogleSpeech]:
    made = google.adapter(simulator)
    yield made
    await made.aclose()


def order(key: str = "tow-1", count: int = 1, **changes: Any) -> Order:
    return replace(google.order(MemoryFiles(), key, count), **changes)


async def ended(provider: GoogleSpeech, asked: Order, job: str) -> Answer:
    while not (answer := await provider.poll(asked, {}, job)).phase.ended:
        pass
    return answer


async def test_an_operation_is_found_over_several_pages_by_the_folder_it_writes_to(provider: GoogleSpeech):
    jobs = {key: await provider.submit(order(key), {}) for key in ("tow-1", "tow-10", "tow-2", "tow-3", "tow-4")}
    found = await provider.find(order("tow-1"), {})
    assert found is not None
    assert found.external_id == jobs["tow-1"]
    assert await provider.find(order("tow"), {}) is None
    assert await provider.find(order("tow-1", output="gs://elsewhere"), {}) is None


class TellsOfFiles(GoogleSimulator):
    """Its operations say where their files are written to, and not what was asked."""

    def metadata(self, job: SimulatedJob, state: str) -> Any:
        place = job.request.recognition_output_config.gcs_output_config.uri
        files = {file.uri: {"uri": f"{place}{number}.json"} for number, file in enumerate(job.request.files)}
        return type(super().metadata(job, state))(batch_recognize_metadata={"transcription_metadata": files})


class TellsNothing(GoogleSimulator):
    def metadata(self, job: SimulatedJob, state: str) -> Any:
        return type(super().metadata(job, state))(progress_percent=50)


async def test_an_operation_that_only_says_where_its_files_go_is_found():
    with served(simulator := TellsOfFiles()):
        provider = google.adapter(simulator)
        job = await provider.submit(order(), {})
        found = await provider.find(order(), {})
        assert found is not None
        assert found.external_id == job
        assert await provider.find(order("tow-2"), {}) is None
        await provider.aclose()


async def test_while_an_operation_does_not_say_where_it_writes_nothing_is_certain():
    with served(simulator := TellsNothing()):
        provider = google.adapter(simulator)
        await provider.submit(order(), {})
        with pytest.raises(Transient, match="do not say where"):
            await provider.find(order(), {})
        await provider.aclose()


async def test_progress_is_told(provider: GoogleSpeech):
    job = await provider.submit(order(), {})
    assert (await provider.poll(order(), {}, job)).detail == {"progress_percent": 50}


async def test_files_that_failed_are_counted(simulator: GoogleSimulator, provider: GoogleSpeech):
    simulator.arm(Fault.PARTIAL)
    asked = order(count=3)
    job = await provider.submit(asked, {})
    answer = await ended(provider, asked, job)
    assert (answer.status, answer.phase, answer.counts) == ("DONE", Phase.PARTIAL, Counts(3, 2, 1))
    assert answer.output_uri == "gs://mine/transcripts/tow-1/"
    results = {result.ref: result async for result in provider.fetch(asked, {}, job)}
    assert results["r1"].code == "INVALID_ARGUMENT"
    assert results["r2"].body["results"][0]["alternatives"][0]["transcript"] == "This is file2.wav"


async def test_a_failed_operation_says_its_code_and_has_no_results(simulator: GoogleSimulator, provider: GoogleSpeech):
    simulator.arm(Fault.FAILS)
    job = await provider.submit(order(), {})
    answer = await ended(provider, order(), job)
    assert (answer.status, answer.error) == ("INTERNAL", "Internal error encountered.")
    assert [result async for result in provider.fetch(order(), {}, job)] == []


async def test_a_transcript_that_is_not_there_yet_is_transient(simulator: GoogleSimulator, provider: GoogleSpeech):
    with pytest.raises(Transient, match="not there") as missing:
        await provider._transcript("gs://mine/transcripts/none.json")
    assert not isinstance(missing.value, Vanished)


async def test_what_was_asked_for_is_what_is_sent(simulator: GoogleSimulator, provider: GoogleSpeech):
    options = {"locale": "de-DE", "diarization": 3, "word_timestamps": True, "window": "24h"}
    asked = order(options=options, model="chirp_3")
    await provider.check(asked)
    sent = simulator.jobs[await provider.submit(asked, {})].request
    assert sent.recognizer == "projects/simulated/locations/global/recognizers/_"
    assert (sent.config.model, list(sent.config.language_codes)) == ("chirp_3", ["de-DE"])
    assert sent.config.features.diarization_config.max_speaker_count == 3
    assert sent.config.features.enable_word_time_offsets
    assert sent.processing_strategy == type(sent).ProcessingStrategy.DYNAMIC_BATCHING
    plain = simulator.jobs[await provider.submit(order("tow-2"), {})].request
    assert "diarization_config" not in plain.config.features
    assert plain.processing_strategy == type(sent).ProcessingStrategy.PROCESSING_STRATEGY_UNSPECIFIED


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": {}}, "needs to know the language"),
        ({"output": None}, "gs://bucket"),
        ({"output": "s3://mine"}, "gs://bucket"),
        ({"options": {"locale": "en-US", "window": "1h"}}, "within 24h"),
        ({"options": {"locale": "en-US", "temperature": 1}}, "no word for temperature"),
    ],
)
async def test_what_there_is_no_word_for_is_refused_before_anything_is_sent(
    provider: GoogleSpeech, changes: dict[str, Any], said: str
):
    with pytest.raises(SchemaInvalid, match=said):
        await provider.check(order(**changes))


async def test_a_job_takes_fifteen_files(simulator: GoogleSimulator, provider: GoogleSpeech):
    await provider.check(order(count=15))
    with pytest.raises(SchemaInvalid, match="15 files at most"):
        await provider.check(order(count=16))
    with pytest.raises(SchemaInvalid, match="between 1 and 15"):
        await provider.submit(order(count=16), {})
    assert not simulator.ledger.paid


async def test_a_token_that_has_expired_is_fatal_and_not_told(simulator: GoogleSimulator):
    provider = google.adapter(simulator, token="another-secret")
    with pytest.raises(Fatal) as refused:
        await provider.submit(order(), {})
    assert "another-secret" not in str(refused.value)
    await provider.aclose()


async def test_nothing_is_tried_again_by_the_library(simulator: GoogleSimulator, provider: GoogleSpeech):
    simulator.arm(Fault.UNAVAILABLE, times=2)
    with pytest.raises(Transient):
        await provider.submit(order(), {})
    assert simulator.faults.left() == {Fault.UNAVAILABLE: 1}


async def test_a_missing_credential_project_or_package_is_said_at_once(monkeypatch: pytest.MonkeyPatch):
    from google.auth.credentials import AnonymousCredentials

    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nonexistent")
    with pytest.raises(ConfigurationError, match="GOOGLE_APPLICATION_CREDENTIALS"):
        await GoogleSpeech().check()
    with pytest.raises(ConfigurationError, match="GOOGLE_CLOUD_PROJECT"):
        await GoogleSpeech(credentials=AnonymousCredentials()).check()
    monkeypatch.setitem(sys.modules, "google.cloud.speech_v2", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[google\]"):
        await GoogleSpeech(project="x").check()


def test_a_location_has_an_endpoint_of_its_own():
    assert GoogleSpeech(location="europe-west4")._clients._endpoint == "europe-west4-speech.googleapis.com"
    assert GoogleSpeech()._clients._endpoint == "speech.googleapis.com"


def _raises(error: Exception) -> Any:
    def call() -> None:
        raise error

    return call


def test_what_google_says_has_its_category():
    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth
    from google.protobuf.json_format import ParseError

    table: list[tuple[Exception, type[Exception]]] = [
        (api.InvalidArgument("x"), SchemaInvalid),
        (api.FailedPrecondition("x"), SchemaInvalid),
        (api.Unauthenticated("x"), Fatal),
        (api.PermissionDenied("x"), Fatal),
        (api.NotFound("x"), Vanished),
        (api.Aborted("x"), Transient),
        (api.ResourceExhausted("x"), RateLimited),
        (api.InternalServerError("x"), Transient),
        (api.ServiceUnavailable("x"), Transient),
        (api.DeadlineExceeded("x"), Transient),
        (api.RetryError("x", None), Transient),
        (auth.RefreshError("x"), Fatal),
        (auth.RefreshError("x", retryable=True), Transient),
        (auth.TransportError("x"), Transient),
        (auth.DefaultCredentialsError("x"), ConfigurationError),
        (requests.ConnectionError("x"), Transient),
        (requests.ReadTimeout("x"), Transient),
        (ParseError("x"), Transient),
    ]
    for error, expected in table:
        with pytest.raises(expected) as raised:
            translated("GOOGLE", _raises(error))
        assert type(raised.value) is expected, error
