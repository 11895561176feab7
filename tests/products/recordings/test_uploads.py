"""Resumable uploads whose purpose is to be a recording."""

from tests.assets.tus import begin, begun, offset_of, send
from tests.engine.working import on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem

HALF = len(QUIET) // 2


async def test_an_upload_in_two_parts_becomes_a_recording_with_its_options(studio: Studio, ear: Ear):
    ear.hears = []  # loading what tells speakers apart takes longer than everything else here
    options = {"title": "Monday", "language": "en-GB", "speakers": "true", "auto_summary": "false", "priority": "2"}
    where = await begun(studio.ann, len(QUIET), "../talk.wav", purpose="recording", **options)
    assert (await send(studio.ann, where, 0, QUIET[:HALF])).status_code == 204
    assert ok(await studio.ann.get("/api/recordings"))["items"] == []
    assert await offset_of(studio.ann, where) == HALF  # as a laptop asks that was closed in between
    assert (await send(studio.ann, where, HALF, QUIET[HALF:])).status_code == 204

    made = ok(await studio.ann.get(where))["result"]
    waiting = await studio.get(made["id"])
    assert (waiting["status"], waiting["title"], waiting["file_name"]) == ("PENDING", "Monday", "talk.wav")
    assert (waiting["language"], waiting["speakers"], waiting["auto_summary"]) == ("en", True, False)
    assert (waiting["job"]["id"], waiting["job"]["is_new_upload"]) == (made["job_id"], True)
    job = await studio.app.get(made["job_id"])
    assert (job.priority, job.lane) == (2, "north/ann")
    async with studio.working():
        assert (await studio.done(made["id"]))["status"] == "COMPLETED"
    assert (await studio.ann.get(f"/api/recordings/{made['id']}/audio")).content == QUIET


@on_sqlite
async def test_what_cannot_become_a_recording_is_refused_before_it_is_sent(studio: Studio):
    for options in ({"language": "tlh"}, {"speakers": "perhaps"}, {"priority": "9"}):
        told = problem(await begin(studio.ann, len(QUIET), purpose="recording", **options), 422, "invalid")
        assert next(iter(options)) in told["detail"] + str(told.get("errors"))
    problem(await begin(studio.ann, len(QUIET), purpose="recording", priority="0"), 403, "forbidden")
    text = b"Dear diary, today I recorded nothing.\n" * 50
    where = await begun(studio.ann, len(text), "diary.mp3", purpose="recording")
    assert "is text" in problem(await send(studio.ann, where, 0, text), 422, "invalid")["detail"]
    assert (await studio.jobs(), await studio.blobs()) == ([], [])
