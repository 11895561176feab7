"""Whoever wants to know that a recording is done is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.recordings.studio import Studio
from tests.server.api.receiving import receiving
from tests.server.api.site import ok
from towpath import Settings
from towpath.server.webhooks import dispatching

pytestmark = on_sqlite


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Settings:
    monkeypatch.setattr(dispatching, "_EVERY", 0.02)
    monkeypatch.setattr(dispatching, "_IDLE", 0.02)
    return replace(settings, allow_private_urls=True)


async def test_a_webhook_hears_of_a_recording_when_it_is_done_and_not_of_its_parts(studio: Studio):
    with receiving() as receiver:
        asked = {"url": receiver.url, "operations": ["transcribe"]}
        ok(await studio.ann.post("/api/webhooks", json=asked), 201)
        sent = await studio.upload()
        async with studio.working(), studio.working_on("webhooks"):
            await studio.done(sent["id"])
            await eventually(lambda: receiver.messages)
    [message] = receiver.messages
    assert (message.content["type"], message.content["job"]["id"]) == ("job.partial", sent["job_id"])  # nobody spoke


async def test_the_event_log_tells_of_the_recording_from_its_upload_to_its_end(studio: Studio):
    done = await studio.finished()
    events = ok(await studio.ann.get(f"/api/jobs/{done['job']['id']}/events"))["items"]
    names = [event["name"] for event in events]
    steps = [event["fields"]["step"] for event in events if event["name"] == "step.completed"]
    assert (names[0], names[-1]) == ("job.created", "job.partial")
    assert steps == ["probe", "decode", "split", "begin", "save", "index"]
