"""What is particular to Amazon Transcribe."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.providers import aws
from tests.providers.cases import MemoryFiles
from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Order, Phase, Result, Vanished
from towpath.providers.aws import AwsTranscribe
from towpath.providers.aws_errors import category
from towpath.providers.simulator import Fault, served
from towpath.providers.simulator.aws import AwsSimulator
from towpath.providers.simulator.aws_wire import ACCESS_KEY


@pytest.fixture
def simulator() -> Iterator[AwsSimulator]:
    made = AwsSimulator()
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: AwsSimulator) -> AsyncIterator[AwsTranscribe]:
    made = aws.adapter(simulator)
    yield made
    await made.aclose()


def order(key: str = "tow-1", **changes: Any) -> Order:
    return replace(aws.order(MemoryFiles(), key, 1), **changes)


async def ended(provider: AwsTranscribe, asked: Order) -> list[Result]:
    while not (await provider.poll(asked, {}, asked.key)).phase.ended:
        pass
    return [result async for result in provider.fetch(asked, {}, asked.key)]


async def test_a_transcript_may_go_to_a_bucket_of_ones_own(simulator: AwsSimulator, provider: AwsTranscribe):
    asked = order(output="s3://mine/transcripts/")
    await provider.check(asked)
    assert await provider.submit(asked, {}) == "tow-1"
    (result,) = await ended(provider, asked)
    assert result.body["results"]["transcripts"] == [{"transcript": "This is file0.wav"}]
    assert list(simulator.files) == ["mine/transcripts/tow-1.json"]
    answer = await provider.poll(asked, {}, "tow-1")
    assert answer.output_uri == "s3://mine/transcripts/tow-1.json"


async def test_a_transcript_in_ones_own_bucket_that_breaks_off_or_is_not_there_yet_is_transient(
    simulator: AwsSimulator, provider: AwsTranscribe
):
    asked = order(output="s3://mine")
    await provider.submit(asked, {})
    await ended(provider, asked)
    simulator.arm(Fault.TRUNCATED)
    with pytest.raises(Transient):
        await ended(provider, asked)
    job = {"TranscriptionJobStatus": "COMPLETED"}
    with pytest.raises(Transient, match="NoSuchKey"):
        await provider._transcript(replace(asked, key="not-written"), job)


async def test_the_link_to_a_transcript_is_not_told(provider: AwsTranscribe, simulator: AwsSimulator):
    asked = order()
    await provider.submit(asked, {})
    await ended(provider, asked)
    assert (await provider.poll(asked, {}, asked.key)).output_uri is None
    simulator.arm(Fault.EXPIRED_URL)
    with pytest.raises(Transient) as expired:
        await ended(provider, asked)
    assert "X-Amz-Signature" not in str(expired.value)


async def test_a_job_of_the_same_name_that_transcribes_another_file_is_not_adopted(provider: AwsTranscribe):
    await provider.submit(order(), {})
    other = replace(order(), inputs=(replace(order().inputs[0], uri="s3://recordings/another.wav"),))
    with pytest.raises(Fatal, match="transcribes another file"):
        await provider.submit(other, {})


async def test_without_a_locale_the_language_is_identified(simulator: AwsSimulator, provider: AwsTranscribe):
    await provider.submit(order(options={}), {})
    assert simulator.jobs["tow-1"].request["IdentifyLanguage"] is True
    assert "LanguageCode" not in simulator.jobs["tow-1"].request


@pytest.mark.parametrize(("given", "most"), [(True, 10), (4, 4)])
async def test_speakers_are_told_apart(simulator: AwsSimulator, provider: AwsTranscribe, given: object, most: int):
    asked = order(options={"locale": "de-DE", "diarization": given}, model="my-model")
    await provider.check(asked)
    await provider.submit(asked, {})
    request = simulator.jobs["tow-1"].request
    assert request["Settings"] == {"ShowSpeakerLabels": True, "MaxSpeakerLabels": most}
    assert request["ModelSettings"] == {"LanguageModelName": "my-model"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": "not a name"}, "not allowed"),
        ({"key": "n" * 201}, "longer than 200"),
        ({"options": {"locale": "xx-XX"}}, "LanguageCode"),
        ({"output": "s3://Mine"}, "OutputBucketName"),
    ],
)
async def test_what_the_service_will_never_take_is_invalid(provider: AwsTranscribe, changes: dict[str, Any], said: str):
    with pytest.raises(SchemaInvalid, match=said):
        await provider.submit(order(**changes), {})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task_type": "completion"}, "transcribes"),
        ({"options": {"window": "24h"}}, "no word for window"),
        ({"options": {"diarization": 1}}, "2 to 30"),
        ({"options": {"locale": ""}}, "language tag"),
        ({"inputs": ()}, "nothing to transcribe"),
        ({"output": "gs://elsewhere"}, "s3://bucket"),
    ],
)
async def test_what_there_is_no_word_for_is_refused_before_anything_is_sent(
    simulator: AwsSimulator, provider: AwsTranscribe, changes: dict[str, Any], said: str
):
    with pytest.raises(SchemaInvalid, match=said):
        await provider.check(order(**changes))
    assert not simulator.jobs


async def test_a_job_takes_one_file_and_only_from_s3(provider: AwsTranscribe):
    with pytest.raises(SchemaInvalid, match="1 files at most"):
        await provider.check(aws.order(MemoryFiles(), "tow-1", 2))
    with pytest.raises(SchemaInvalid, match="s3:// only"):
        await provider.check(order(inputs=(replace(order().inputs[0], uri="https://example.com/a.wav"),)))


async def test_a_wrong_secret_is_fatal_and_not_told(simulator: AwsSimulator):
    provider = AwsTranscribe(
        region="us-east-1", endpoint_url=simulator.url, access_key_id=ACCESS_KEY, secret_access_key="another-secret"
    )
    with pytest.raises(Fatal) as refused:
        await provider.submit(order(), {})
    assert "secret" not in str(refused.value)
    assert not simulator.jobs
    await provider.aclose()


async def test_nothing_is_tried_again_by_the_library(simulator: AwsSimulator, provider: AwsTranscribe):
    simulator.arm(Fault.UNAVAILABLE, times=2)
    with pytest.raises(Transient):
        await provider.submit(order(), {})
    assert simulator.faults.left() == {Fault.UNAVAILABLE: 1}


async def test_an_address_where_nobody_listens_is_transient():
    provider = AwsTranscribe(
        region="us-east-1", endpoint_url="http://127.0.0.1:1", access_key_id=ACCESS_KEY, secret_access_key="s", timeout=60
    )
    with pytest.raises(Transient, match="could not be reached"):
        await provider.find(order(), {})
    await provider.aclose()


def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variables, no files and no machine to ask for credentials."""
    import os

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")


async def test_a_missing_region_or_credential_is_said_at_once(monkeypatch: pytest.MonkeyPatch):
    no_account(monkeypatch)
    with pytest.raises(ConfigurationError, match="AWS_DEFAULT_REGION"):
        await AwsTranscribe().check()
    with pytest.raises(ConfigurationError, match="AWS_ACCESS_KEY_ID"):
        await AwsTranscribe(region="us-east-1").check()


async def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ConfigurationError, match=r"towpath\[aws\]"):
        await AwsTranscribe(region="us-east-1").check()


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 400, RateLimited),
        ("LimitExceededException", 429, RateLimited),
        ("SlowDown", 503, RateLimited),
        ("NotFoundException", 404, Vanished),
        ("BadRequestException", 400, SchemaInvalid),
        ("ValidationException", 400, SchemaInvalid),
        ("ExpiredTokenException", 400, Fatal),
        ("AccessDeniedException", 400, Fatal),
        ("RequestTimeTooSkewed", 403, Fatal),
        ("InternalFailureException", 500, Transient),
        ("ServiceUnavailable", 503, Transient),
        ("", 502, Transient),
    ],
)
def test_what_aws_says_has_its_category(code: str, status: int, expected: type[Exception]):
    response = {"Error": {"Code": code, "Message": "as it is"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    assert type(category("AWS", response)) is expected


def test_a_job_that_a_bad_request_tells_of_is_gone():
    said = "The requested job couldn't be found. Check the job name and try your request again."
    response = {"Error": {"Code": "BadRequestException", "Message": said}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    assert type(category("AWS", response)) is Vanished


def test_a_notice_of_eventbridge_is_not_believed():
    notice = {"source": "aws.transcribe", "detail": {"TranscriptionJobName": "tow-1", "TranscriptionJobStatus": "COMPLETED"}}
    assert AwsTranscribe().called_back({"content-type": "application/json"}, json.dumps(notice).encode()) is None


@pytest.fixture
def moto() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


async def test_an_independent_reading_of_the_service_agrees(moto: str):
    import boto3

    provider = AwsTranscribe(region="us-east-1", endpoint_url=moto, access_key_id="test", secret_access_key="test")
    asked = order(output="s3://mine/transcripts", options={"locale": "en-US", "diarization": 3})
    assert await provider.find(asked, {}) is None
    with pytest.raises(Vanished):
        await provider.poll(asked, {}, asked.key)
    assert await provider.submit(asked, {}) == asked.key
    assert await provider.submit(asked, {}) == asked.key
    found = await provider.find(asked, {})
    assert found is not None
    assert found.external_id == asked.key
    while (answer := await provider.poll(asked, {}, asked.key)).phase is Phase.RUNNING:
        assert answer.status in ("QUEUED", "IN_PROGRESS")
    assert answer.phase is Phase.COMPLETED
    job = await provider._job(asked.key)
    assert job["Transcript"]["TranscriptFileUri"].endswith("/mine/transcripts/tow-1.json")
    # It writes no transcript, so that one is put where it says.
    bucket = boto3.client("s3", "us-east-1", endpoint_url=moto, aws_access_key_id="test", aws_secret_access_key="test")
    bucket.create_bucket(Bucket="mine")
    bucket.put_object(Bucket="mine", Key="transcripts/tow-1.json", Body=b'{"status": "COMPLETED"}')
    bucket.close()
    assert [result async for result in provider.fetch(asked, {}, asked.key)] == [Result("r0", {"status": "COMPLETED"})]
    await provider.aclose()
