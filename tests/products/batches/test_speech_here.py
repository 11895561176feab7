"""LOCAL transcriptions: this installation's own engine hears what espeak-ng has said, input by input."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.working import on_sqlite
from tests.models.sounds import BECKETT, BUNDLED, speak
from tests.products.batches.desk import opened_desk
from tests.products.batches.speech import Speech, SpeechDesk
from tests.server.api.site import ok
from towpath import App, Settings

HERE = Speech("LOCAL", "", {}, 1)


@pytest.fixture
async def desk(database_url: str, settings: Settings) -> AsyncIterator[SpeechDesk]:
    bundled = replace(settings, models_dir=BUNDLED.models_dir)
    async with opened_desk(App(database_url, settings=bundled)) as desk:
        found = SpeechDesk(desk.site)
        found.speech = HERE
        yield found


@pytest.fixture
def spoken(tmp_path: Path) -> bytes:
    return speak(BECKETT, tmp_path / "spoken.wav").read_bytes()


async def test_the_default_install_hears_a_batch_by_itself(desk: SpeechDesk, spoken: bytes):
    talk, broken = await desk.upload("talk.wav", spoken), await desk.upload("broken.wav", spoken[:60])
    note = await desk.upload("note.txt", b"not a talk")
    found = await desk.transcribed([talk, note, broken], locale="en-GB")
    assert (found["status"], found["provider"], found["models"]) == ("PARTIAL_COMPLETE", "LOCAL", [])
    assert (found["count"], found["invalid"], found["ok"], found["failed"]) == (3, 1, 1, 1)
    heard, refused, failed = (await desk.document(found["id"]))["transcriptions"]
    assert (heard["input"], heard["model"], heard["error"]) == (talk, None, None)
    assert "fail again" in heard["text"].lower()
    assert heard["response"]["engine"].startswith("moonshine/")
    assert heard["response"]["segments"][0]["start"] < heard["response"]["seconds"]
    assert (refused["input"], refused["error"]["code"]) == (note, "invalid_input")
    assert (failed["input"], failed["text"], bool(failed["error"]["message"])) == (broken, None, True)
    assert found["provider_state"] is None
    preview = ok(await desk.ann.get(f"/api/batches/{found['id']}/preview"))["lines"]
    assert [line["input"] for line in preview] == [talk, note, broken]
    assert [line["name"] for line in preview] == ["talk.wav", "note.txt", "broken.wav"]
    assert [one["name"] for one in found["invalid_inputs"]] == ["note.txt"]
    assert preview[0]["text"] == heard["text"]
    again = ok(await desk.ann.post(f"/api/batches/{found['id']}/retry"), 202)
    async with desk.working():
        second = await desk.done(again["id"])
    assert (second["status"], second["count"]) == ("FAILED", 1)


@on_sqlite
async def test_one_that_is_heard_whole_leaves_no_work_behind(desk: SpeechDesk, spoken: bytes):
    found = await desk.transcribed([await desk.upload("talk.wav", spoken)])
    assert (found["status"], found["done"], found["total"]) == ("COMPLETED", 1, 1)
    assert [key for key in await desk.blobs() if "/work/" in key] == []
    assert ok(await desk.ann.delete(f"/api/batches/{found['id']}")) == {"deleted": 1}
    assert [key for key in await desk.blobs() if found["id"] in key] == []


@on_sqlite
async def test_a_language_that_no_engine_here_hears_is_refused_when_it_is_sent(desk: SpeechDesk):
    asked = {"inputs": ["x"], "locale": "cy"}
    refused = (await desk.ann.post("/api/batches/transcription", json=asked)).json()
    assert (refused["status"], "'cy'" in refused["detail"]) == (422, True)
