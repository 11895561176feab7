"""Transcriptions at each provider, through its real library: from inputs over HTTP to the documents that are documented."""

from collections.abc import AsyncIterator

import pytest

from tests.engine.working import on_sqlite
from tests.products.batches import speech
from tests.products.batches.speech import AWS, GOOGLE, PROVIDERS, Speech, SpeechDesk, opened_speech
from tests.providers import google
from towpath import Settings
from towpath.batches.speech_state import AwsState, AzureState, GoogleState, SarvamState
from towpath.providers.simulator import Fault

SHAPES = {"AZURE": AzureState, "SARVAM": SarvamState, "AWS": AwsState, "GOOGLE": GoogleState}


@pytest.fixture(params=PROVIDERS, ids=lambda one: one.name)
def asked(request: pytest.FixtureRequest) -> Speech:
    return request.param


@pytest.fixture
async def desk(
    database_url: str, settings: Settings, asked: Speech, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SpeechDesk]:
    from dataclasses import replace

    if asked is not GOOGLE:
        async with opened_speech(database_url, settings, asked) as desk:
            yield desk
        return
    simulator = google.simulator()
    with speech.bucket_of(simulator) as environ:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        staged = replace(settings, staging_url="gs://ours/towpath")
        async with opened_speech(database_url, staged, asked, simulator) as desk:
            yield desk


async def test_what_is_sent_comes_back_as_documented(desk: SpeechDesk, asked: Speech):
    inputs = await desk.inputs(3)
    found = await desk.transcribed([*inputs, "https://127.0.0.1/secret.wav", inputs[0]], title="Three talks")
    assert (found["status"], found["title"], found["error"]) == ("COMPLETED", "Three talks", None)
    assert (found["count"], found["invalid"], found["ok"], found["failed"]) == (5, 2, 3, 0)
    assert "2 of its inputs could not be heard" in found["warning"]
    document = await desk.document(found["id"])
    model = "long" if asked is GOOGLE else None
    entries = document["long"]["transcriptions"] if asked is GOOGLE else document["transcriptions"]
    assert set(document) == ({"long"} if asked is GOOGLE else {"transcriptions"})
    assert [entry["input"] for entry in entries[:3]] == [one.partition("?")[0] for one in inputs]
    assert all(entry["text"] and entry["response"] and entry["error"] is None for entry in entries[:3])
    assert {entry["model"] for entry in entries} == {model}
    assert [entry["error"]["code"] for entry in entries[3:]] == ["invalid_input", "invalid_input"]
    assert "line 1" in entries[4]["error"]["message"]
    state = found["provider_state"]
    SHAPES[asked.name].model_validate(state)
    assert state["invalid_urls"] == ["https://127.0.0.1/secret.wav", inputs[0].partition("?")[0]]
    assert {job["status"] for job in state["jobs"]} == {"COMPLETED"}
    assert state == await desk.state_in_sql(found["id"])
    paid = desk.simulator.ledger.paid
    assert sorted(job["external_job_id"] for job in state["jobs"]) == sorted(one.external_id for one in paid)
    assert [key for key in await desk.blobs() if "/work/" in key] == []
    assert not [uri for uri in desk.simulator.files if uri.startswith("gs://ours/")], "the bucket is as it was"


async def test_what_fails_of_an_order_is_told_in_its_place_and_asked_again_alone(desk: SpeechDesk, asked: Speech):
    inputs = await desk.inputs(4)
    desk.simulator.arm(Fault.FAILS if asked is AWS else Fault.PARTIAL)
    found = await desk.transcribed(inputs)
    assert found["status"] == "PARTIAL_COMPLETE"
    entries = await desk.entries(found["id"])
    failed = [place for place, entry in enumerate(entries) if entry["error"] is not None]
    assert len(failed) == 1 if asked is AWS else failed == [1, 3]  # which of AWS's jobs is made first, nobody knows
    assert found["failed"] == len(failed)
    again = (await desk.ann.post(f"/api/batches/{found['id']}/retry")).json()
    async with desk.working():
        second = await desk.done(again["id"])
    assert (second["status"], second["retry_of"], second["count"]) == ("COMPLETED", found["id"], len(failed))
    assert [entry["input"] for entry in await desk.entries(second["id"])] == [entries[place]["input"] for place in failed]
    assert desk.simulator.ledger.twice == {}


@on_sqlite
async def test_more_inputs_than_an_order_takes_become_several_and_one_document(desk: SpeechDesk, asked: Speech):
    count = {"AWS": 3, "GOOGLE": 17, "SARVAM": 21, "AZURE": 1001}[asked.name]
    inputs = await desk.inputs(count)
    found = await desk.transcribed(inputs)
    assert (found["status"], found["ok"]) == ("COMPLETED", count)
    assert [entry["input"] for entry in await desk.entries(found["id"])] == [one.partition("?")[0] for one in inputs]
    assert [row["count"] for row in found["provider_jobs"]] == {
        "AWS": [1, 1, 1], "GOOGLE": [15, 2], "SARVAM": [20, 1], "AZURE": [1000, 1],
    }[asked.name]  # fmt: skip


@on_sqlite
async def test_a_job_that_vanishes_fails_and_the_batch_with_it(desk: SpeechDesk):
    desk.simulator.arm(Fault.VANISHES)
    found = await desk.transcribed(await desk.inputs(1))
    assert found["status"] == "FAILED"
    assert "none of its inputs was transcribed" in found["error"]
    [job] = found["provider_state"]["jobs"]
    assert job["status"] == "FAILED"
    assert [key for key in await desk.blobs() if "/work/" in key] == []


@on_sqlite
async def test_a_provider_that_says_not_so_fast_is_asked_again(desk: SpeechDesk):
    desk.simulator.arm(Fault.RATE_LIMITED)
    assert (await desk.transcribed(await desk.inputs(1)))["status"] == "COMPLETED"
    assert desk.simulator.faults.left() == {}
