"""From a file to a transcript, a summary and an export, with real speech, on both databases."""

import json
from pathlib import Path

import pytest

from tests.engine.working import on_sqlite
from tests.models.sounds import BECKETT, TWO_CITIES, spoken
from tests.models.words import word_error_rate
from tests.products.recordings.media import encoded, of_floats, speech
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok

SPOKEN = encoded(speech("clone-test"))
SHOWN_OF_A_JOB = {
    "id", "recording_id", "recording_title", "job_status", "job_type", "queue_type", "position", "is_new_upload",
    "error_message", "created_at", "started_at", "completed_at",
}  # fmt: skip


async def test_speech_becomes_a_transcript_and_a_summary(studio: Studio):
    sent = await studio.upload(encoded(speech("beckett"), "mp3"), "worstward.mp3", title="Beckett", auto_summary="true")
    waiting = await studio.get(sent["id"])
    assert (waiting["status"], waiting["title"], waiting["duration"]) == ("PENDING", "Beckett", None)
    [queued] = await studio.jobs()
    assert queued.keys() >= SHOWN_OF_A_JOB
    assert (queued["id"], queued["job_status"], queued["job_type"]) == (sent["job_id"], "queued", "transcribe")
    assert (queued["queue_type"], queued["position"], queued["is_new_upload"]) == ("transcription", 1, True)

    async with studio.working():
        found = await studio.done(sent["id"])
    assert (found["status"], found["error"], found["warning"]) == ("COMPLETED", None, None)
    assert 9 < found["duration"] < 11
    assert found["summary"]["method"] == "extractive"
    assert not found["summary"]["outdated"]
    assert [job["job_type"] for job in found["jobs"]] == ["transcribe", "summarize"]
    assert found["jobs"][0]["progress"] == {"current": found["duration"], "total": found["duration"]}
    assert {job["job_status"] for job in await studio.jobs()} == {"completed"}

    transcript = ok(await studio.ann.get(f"/api/recordings/{sent['id']}/transcript"))
    assert word_error_rate(BECKETT, transcript["text"]) < 0.10
    times = [(line["start"], line["end"]) for line in transcript["segments"]]
    assert times == sorted(times)
    assert all(0 <= start <= end <= found["duration"] for start, end in times)
    await _exports_agree(studio, sent["id"], transcript)


@on_sqlite
@pytest.mark.slow
async def test_speech_over_several_windows_is_understood(studio: Studio):
    found = await studio.finished(encoded(speech("two_cities"), "ogg"), "two cities.ogg", auto_summary="false")
    transcript = ok(await studio.ann.get(f"/api/recordings/{found['id']}/transcript"))
    assert word_error_rate(TWO_CITIES, transcript["text"]) < 0.10


async def test_a_synthetic_voice_is_understood(studio: Studio, tmp_path: Path):
    said = "Please send your questions to the office before Friday. The kitchen on the second floor is closed."
    found = await studio.finished(encoded(of_floats(spoken(said, tmp_path)), "mp3"), "voice.mp3", auto_summary="false")
    transcript = ok(await studio.ann.get(f"/api/recordings/{found['id']}/transcript"))
    assert word_error_rate(said, transcript["text"]) < 0.20


async def _exports_agree(studio: Studio, recording_id: str, transcript: dict) -> None:
    for wanted in ("txt", "srt", "vtt", "json", "md"):
        answer = await studio.ann.get(f"/api/recordings/{recording_id}/export", params={"format": wanted})
        assert answer.status_code == 200
        assert f'filename="Beckett.{wanted}"' in answer.headers["content-disposition"]
        assert transcript["segments"][0]["text"].split()[0] in answer.text
    exported = json.loads((await studio.ann.get(f"/api/recordings/{recording_id}/export?format=json")).text)
    assert exported["text"] == transcript["text"]


@on_sqlite
async def test_what_nobody_may_begin_has_a_reason_instead_of_an_estimate_and_goes_on_when_they_may(studio: Studio):
    await studio.upload(SPOKEN, "first.wav", auto_summary="false")
    [first] = await studio.jobs()
    assert first["eta_seconds"] is None
    assert first["waiting_for"]
    async with studio.working():
        assert (await studio.done(first["recording_id"]))["summary"] is None
        await studio.app.queues.pause("transcription")
        second = await studio.upload(SPOKEN, "second.wav")
        assert (await studio.jobs())[0]["waiting_for"] == "the queue 'transcription' is paused"
        await studio.app.queues.resume("transcription")
        await studio.app.queues.lane("transcription", "north/ann", max_roots=0)
        third = await studio.upload(SPOKEN, "third.wav")
        [job] = [job for job in await studio.jobs() if job["id"] == third["job_id"]]
        assert job["eta_seconds"] is None, "nobody may begin it"
        assert job["waiting_for"]
        await studio.app.queues.lane("transcription", "north/ann", max_roots=2)
        for sent in (second, third):
            assert (await studio.done(sent["id"]))["status"] == "COMPLETED"


async def test_silence_is_completed_with_a_warning(studio: Studio):
    found = await studio.finished()
    assert (found["status"], found["warning"]) == ("COMPLETED", "no speech was heard in it")
    transcript = ok(await studio.ann.get(f"/api/recordings/{found['id']}/transcript"))
    assert (transcript["text"], transcript["segments"]) == ("", [])
    assert [job["job_type"] for job in found["jobs"]] == ["transcribe"]
