"""What buckets tell of their objects, as S3, SNS, EventBridge, MinIO and SeaweedFS write it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from towpath import SchemaInvalid
from towpath.fleet.arrivals import Intake
from towpath.fleet.events import Created, is_older, read
from towpath.fleet.intake import Wanted
from towpath.fleet.storage import Place, place_of


def s3(key: str = "a.wav", name: str = "ObjectCreated:Put", **told: Any) -> dict[str, Any]:
    return {"eventName": name, "s3": {"bucket": {"name": "in"}, "object": {"key": key} | told}}


def created(message: Any) -> list[Created]:
    return read(json.dumps(message)).created


def test_a_notice_of_s3_says_everything() -> None:
    told = s3("a+b/c%2Bd.wav", size=7, eTag="abc", versionId="v1", sequencer="00F1")
    assert created({"Records": [told]}) == [Created("in", "a b/c+d.wav", 7, "abc", "v1", "00F1")]


def test_a_key_is_decoded_once() -> None:
    assert created({"Records": [s3("50%2525.wav")]})[0].key == "50%25.wav"


def test_notices_through_sns_and_eventbridge_are_the_same() -> None:
    inner = {"Records": [s3(size=1)]}
    assert created({"Type": "Notification", "Message": json.dumps(inner)}) == created(inner)
    detail = {"bucket": {"name": "in"}, "object": {"key": "a+b.wav", "size": 3, "etag": "e", "version-id": "v"}}
    bus = {"source": "aws.s3", "detail-type": "Object Created", "detail": detail}
    assert created(bus) == [Created("in", "a+b.wav", 3, "e", "v")]


def test_minio_and_seaweedfs_are_understood() -> None:
    minio = s3("a%2Fb.wav", name="s3:ObjectCreated:Put", size=1, eTag="e")
    assert created({"EventName": "s3:ObjectCreated:Put", "Key": "in/a/b.wav", "Records": [minio]})[0].key == "a/b.wav"
    entry = {"name": "a.wav", "attributes": {"file_size": 4}}
    weed = {"key": "/buckets/in/f/a.wav", "event_type": "create", "message": {"new_entry": entry}}
    assert created(weed) == [Created("in", "f/a.wav", 4)]
    gone = {"key": "/buckets/in/f/a.wav", "event_type": "delete", "message": {"old_entry": entry}}
    assert read(json.dumps(gone)).ignored == 1


@pytest.mark.parametrize(
    "record",
    [
        s3(name="ObjectRemoved:Delete"), s3("folder/"), s3(""), {}, {"eventName": "ObjectCreated:Put"},
        {"eventName": "ObjectCreated:Put", "s3": {"bucket": {}, "object": {}}}, s3("nul%00.wav"),
    ],
)  # fmt: skip
def test_what_is_no_new_object_is_passed_over(record: dict[str, Any]) -> None:
    notice = read(json.dumps({"Records": [record, s3()]}))
    assert (notice.created, notice.ignored) == ([Created("in", "a.wav")], 1)


def test_test_notices_are_passed_over() -> None:
    assert read(json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})).created == []


@pytest.mark.parametrize("body", ["", "no JSON", "[]", "{}", '{"Message": "no JSON"}', '{"a":' * 2000])
def test_what_is_no_notice_is_refused(body: str) -> None:
    with pytest.raises(SchemaInvalid):
        read(body)


def test_sequencers_are_compared_as_numbers_of_any_length() -> None:
    assert is_older("0A1", "0a2")
    assert is_older("FF", "100")
    assert not is_older("100", "FF")
    assert not is_older("", "1")
    assert not is_older("1", "")


def test_results_beside_their_inputs_become_no_tasks() -> None:
    same = Intake(Place("s3://in", ""), Place("s3://in", ""), "", Wanted(), "t")
    assert same.concerns(Created("in", "a.wav"))
    assert not same.concerns(Created("in", "a.wav.json"))
    assert not same.concerns(Created("in", "towpath/x/attempts/1/output"))
    assert not same.concerns(Created("other", "a.wav"))


def test_a_place_is_a_folder_of_a_bucket() -> None:
    assert place_of("s3://in/audio/", "--input") == Place("s3://in", "audio/")
    assert place_of("s3://in", "--input").key("a.wav") == "a.wav"
