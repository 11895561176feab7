"""The text of a recording while it is being heard: read, searched and corrected before the rest of it is there."""

import pytest

from tests.engine.working import eventually
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok, problem
from towpath import Fatal


async def test_what_was_heard_is_there_before_the_rest_is_and_stays_corrected(studio: Studio, ear: Ear):
    ear.hears = [(0.0, 0.4, "good mourning"), (0.5, 0.9, "everyone")]
    ear.stops_at = 1
    one = (await studio.upload(encoded(silence(65.0), "wav"), auto_summary="false"))["id"]
    address = f"/api/recordings/{one}/transcript"
    problem(await studio.ann.get(address), 404, "not_found")
    async with studio.working(concurrency=1):
        await eventually(lambda: ear.stopped, 30)
        found = ok(await studio.ann.get(address))
        assert (found["growing"], [line["text"] for line in found["segments"]]) == (True, ["good mourning", "everyone"])
        assert [line["text"] for line in ok(await studio.ann.get(address, params={"search": "every"}))["segments"]] == [
            "everyone"
        ]
        first = found["segments"][0]["number"]
        changed = ok(await studio.ann.patch(f"{address}/{first}", json={"text": "Good morning", "speaker": "Ann"}))
        assert (changed["text"], changed["speaker"]) == ("Good morning", "Ann")
        problem(await studio.bob.get(address), 404, "not_found")
        problem(await studio.ann.get(f"/api/recordings/{one}/export"), 404, "not_found")
        ear.go_on()
        await studio.done(one)
    whole = ok(await studio.ann.get(address))
    assert whole["growing"] is False
    assert ("Good morning", "Ann") in [(line["text"], line["speaker"]) for line in whole["segments"]]
    assert [line["number"] for line in whole["segments"]] == list(range(len(whole["segments"])))
    assert whole["unplaced_edits"] == []


@pytest.mark.parametrize("ending", ["CANCELLED", "FAILED"])
async def test_a_recording_that_ends_halfway_keeps_what_was_heard(studio: Studio, ear: Ear, ending: str):
    ear.hears = [(0.0, 0.4, "good morning")]
    ear.stops_at = 1
    one = (await studio.upload(encoded(silence(65.0), "wav"), auto_summary="false"))["id"]
    async with studio.working(concurrency=1):
        await eventually(lambda: ear.stopped, 30)
        if ending == "CANCELLED":
            ok(await studio.ann.post(f"/api/recordings/{one}/cancel"))
        else:
            ear.failing = Fatal("the engine lost its voice")
        ear.go_on()
        found = await studio.done(one)
        assert (found["status"], found["has_transcript"]) == (ending, False)
    found = ok(await studio.ann.get(f"/api/recordings/{one}/transcript"))
    assert (found["growing"], [line["text"] for line in found["segments"]]) == (True, ["good morning"])
