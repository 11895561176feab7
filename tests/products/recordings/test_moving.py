"""Retry, cancel, delete, reprocess, clear: singly and in bulk, in any state."""

import asyncio

import pytest

from tests.engine.working import eventually, happened, on_postgres, on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath import Transient
from towpath.assets import hearing
from towpath.core import failpoints

SAID = ((0.1, 0.9, "The lock opens at seven."),)


@pytest.fixture(autouse=True)
def _speech_without_hearing_it(ear: Ear) -> None:
    """What is moved here is jobs; real speech is heard in test_end_to_end."""
    ear.hears = SAID


@on_sqlite
async def test_a_failed_upload_is_kept_and_can_be_retried(studio: Studio, ear: Ear):
    ear.failing = Transient("the engine is out of breath", remedy="wait a moment")
    sent = await studio.upload(QUIET, "talk.wav", auto_summary="false")
    async with studio.working():
        await _fail_soon(studio, sent["job_id"])
        failed = await studio.done(sent["id"])
        assert failed["status"] == "FAILED"
        assert (failed["error"], failed["job"]["error_remedy"]) == ("the engine is out of breath", "wait a moment")
        assert failed["needs_retry"]
        assert (await studio.jobs())[0]["job_status"] == "failed"
        ear.failing = None
        again = ok(await studio.ann.post(f"/api/recordings/jobs/{sent['job_id']}/retry"))
        assert again["job_status"] in ("queued", "processing")
        done = await studio.until(sent["id"], "COMPLETED")
        assert (done["error"], done["needs_retry"]) == (None, False)
    problem(await studio.ann.post(f"/api/recordings/jobs/{sent['job_id']}/retry"), 409, "conflict")
    assert await happened(studio.app, sent["job_id"], "job.failed")  # the old error stays in the log
    row = await studio.app.get(sent["job_id"])
    assert row.failures == 0


async def _fail_soon(studio: Studio, job_id: str) -> None:
    """The backoff between attempts is not waited for."""

    async def child() -> object:
        found = await studio.app.list(parent=job_id)
        return found and found[0].state == "failed"

    async def hurry() -> bool:
        for job in await studio.app.list(parent=job_id):
            if job.state == "queued" and job.run_at is not None:
                await studio.app.services.store.run(lambda tx, one=job.id: _due_now(tx, one))
        return bool(await child())

    await eventually(hurry, 30)


async def _due_now(tx, job_id):
    mark = "$1" if tx.dialect == "postgres" else "?"
    table = "towpath.job" if tx.dialect == "postgres" else "towpath_job"
    await tx.execute_sql(f"UPDATE {table} SET run_at = created_at WHERE id = {mark} AND run_at IS NOT NULL", job_id)


@on_sqlite
async def test_a_running_recording_is_cancelled_and_really_stops(studio: Studio, ear: Ear):
    ear.held.clear()
    sent = await studio.upload(QUIET, "talk.wav")
    async with studio.working():
        await asyncio.wait_for(ear.reached.wait(), 30)
        assert (await studio.get(sent["id"]))["status"] == "PROCESSING"
        assert ok(await studio.ann.post(f"/api/recordings/{sent['id']}/cancel"))["cancelled"] == [sent["job_id"]]
        assert (await studio.get(sent["id"]))["status"] == "CANCELLED"

        async def nobody_works() -> bool:
            jobs = [await studio.app.get(sent["job_id"]), *await studio.app.list(parent=sent["job_id"])]
            return all(job.state == "cancelled" and not job.leased for job in jobs)

        await eventually(nobody_works)
        ear.held.set()
        assert ok(await studio.ann.post(f"/api/recordings/{sent['id']}/cancel"))["cancelled"] == []
    assert ear.windows == []


@on_sqlite
async def test_a_waiting_recording_is_cancelled_and_can_be_taken_up_again(studio: Studio):
    sent = await studio.upload()
    assert ok(await studio.ann.post(f"/api/recordings/{sent['id']}/cancel"))["cancelled"] == [sent["job_id"]]
    assert (await studio.jobs())[0]["job_status"] == "cancelled"
    ok(await studio.ann.post(f"/api/recordings/jobs/{sent['job_id']}/retry"))
    async with studio.working():
        assert (await studio.done(sent["id"]))["status"] == "COMPLETED"


async def _cancel(studio: Studio, sent: dict) -> tuple[list[str], list[dict]]:
    """What was cancelled, and what the audit log says of it."""
    stopped = ok(await studio.ann.post(f"/api/recordings/{sent['id']}/cancel"))["cancelled"]
    log = ok(await studio.root.get("/api/audit"))["items"]
    return stopped, [entry for entry in log if entry["action"] == "recording.cancel"]


async def test_what_somebody_else_has_stopped_just_before_was_not_cancelled_here(studio: Studio, monkeypatch):
    sent = await studio.upload()
    store = studio.app.services.store
    run = store.run

    async def later(unit):
        if unit.__qualname__.startswith("Subjects.cancel."):  # and not what somebody else in the server happens to write
            monkeypatch.setattr(store, "run", run)
            await studio.app.cancel(sent["job_id"])
        return await run(unit)

    monkeypatch.setattr(store, "run", later)
    assert await _cancel(studio, sent) == ([], [])


@on_postgres
async def test_what_somebody_else_stops_in_the_middle_of_it_was_not_cancelled_here(studio: Studio):
    sent = await studio.upload()

    def hook(reached):
        if reached != "apply.looked":
            return None
        failpoints.install(None)
        return studio.app.cancel(sent["job_id"])

    failpoints.install(hook)
    try:
        assert await _cancel(studio, sent) == ([], [])
    finally:
        failpoints.install(None)


async def test_deleting_a_recording_leaves_nothing(studio: Studio):
    one = await studio.finished(QUIET, "talk.wav")
    ok(await studio.ann.post(f"/api/recordings/{one['id']}/shares", json={}), 201)
    assert ok(await studio.ann.delete(f"/api/recordings/{one['id']}")) == {"deleted": 1}
    problem(await studio.ann.get(f"/api/recordings/{one['id']}"), 404, "not_found")
    assert await studio.jobs() == []
    assert await studio.app.list() == []
    assert await studio.blobs() == []


@on_sqlite
async def test_deleting_while_it_is_worked_on_stops_the_work_first(studio: Studio, ear: Ear):
    ear.held.clear()
    sent = await studio.upload(QUIET, "talk.wav")
    async with studio.working():
        await asyncio.wait_for(ear.reached.wait(), 30)
        ok(await studio.ann.delete(f"/api/recordings/{sent['id']}"))
        problem(await studio.ann.get(f"/api/recordings/{sent['id']}"), 404, "not_found")
        assert ok(await studio.ann.get("/api/recordings"))["items"] == []

        async def all_gone() -> bool:
            return not await studio.app.list() and not await studio.blobs()

        await eventually(all_gone, 30)
    assert ear.windows == []


async def test_deleting_the_job_of_a_failed_upload_takes_the_recording_and_its_audio(studio: Studio):
    sent = await studio.upload()
    ok(await studio.ann.post(f"/api/recordings/{sent['id']}/cancel"))
    gone = ok(await studio.ann.delete(f"/api/recordings/jobs/{sent['job_id']}"))
    assert gone["recording_deleted"]
    problem(await studio.ann.get(f"/api/recordings/{sent['id']}"), 404, "not_found")
    assert await studio.blobs() == []


@on_sqlite
async def test_deleting_a_job_of_a_transcribed_recording_leaves_the_recording(studio: Studio):
    one = await studio.finished(auto_summary="false")
    gone = ok(await studio.ann.delete(f"/api/recordings/jobs/{one['job']['id']}"))
    assert (gone["deleted"] >= 1, gone["recording_deleted"]) == (True, False)
    left = await studio.get(one["id"])
    assert (left["status"], left["job"], left["jobs"]) == ("COMPLETED", None, [])


async def test_clearing_completed_jobs_keeps_recordings_and_what_is_not_completed(studio: Studio):
    one = await studio.finished(auto_summary="false")
    waiting = await studio.upload()
    assert ok(await studio.ann.post("/api/recordings/jobs/clear-completed"))["deleted"] == 1
    assert [job["id"] for job in await studio.jobs()] == [waiting["job_id"]]
    assert (await studio.get(one["id"]))["status"] == "COMPLETED"


@on_sqlite
async def test_a_new_transcription_replaces_the_old_one_only_when_it_is_there(studio: Studio, ear: Ear):
    one = await studio.finished(QUIET, "talk.wav")
    before = ok(await studio.ann.get(f"/api/recordings/{one['id']}/transcript"))
    ear.held.clear()
    ear.reached.clear()
    asked = {"what": "transcription", "language": "en-GB", "auto_summary": False}
    made = ok(await studio.ann.post(f"/api/recordings/{one['id']}/reprocess", json=asked), 202)
    async with studio.working():
        await asyncio.wait_for(ear.reached.wait(), 30)
        now = await studio.get(one["id"])
        assert (now["status"], now["job"]["job_type"]) == ("PROCESSING", "reprocess_transcription")
        assert not now["job"]["is_new_upload"]
        assert ok(await studio.ann.get(f"/api/recordings/{one['id']}/transcript")) == before
        problem(await studio.ann.post(f"/api/recordings/{one['id']}/reprocess", json=asked), 409, "conflict")
        ear.held.set()
        after = await studio.done(one["id"])
    assert (after["language"], after["transcript"]["id"]) == ("en", made["job_id"])
    assert after["summary"]["outdated"]


@on_sqlite
async def test_a_reprocessing_that_fails_leaves_the_old_transcript(studio: Studio, ear: Ear):
    from towpath import Fatal

    one = await studio.finished(QUIET, "talk.wav", auto_summary="false")
    ear.failing = Fatal("the model file is damaged")
    ok(await studio.ann.post(f"/api/recordings/{one['id']}/reprocess", json={}), 202)
    async with studio.working():
        failed = await studio.done(one["id"])
    assert failed["status"] == "FAILED"
    assert "damaged" in failed["error"]
    assert ok(await studio.ann.get(f"/api/recordings/{one['id']}/transcript"))["segments"]


async def test_a_summary_is_made_anew(studio: Studio):
    one = await studio.finished(QUIET, "talk.wav", auto_summary="false")
    assert one["summary"] is None
    ok(await studio.ann.post(f"/api/recordings/{one['id']}/reprocess", json={"what": "summary"}), 202)
    async with studio.working():
        assert (await studio.done(one["id"]))["summary"]["text"]


async def test_bulk_does_what_can_be_done_and_says_why_not_for_the_rest(studio: Studio):
    one, two = await studio.upload(), await studio.upload()
    ok(await studio.ann.post(f"/api/recordings/{one['id']}/cancel"))
    ids = [one["id"], two["id"], "00000000-0000-7000-8000-000000000000"]

    def bulk(action):
        return studio.ann.post("/api/recordings/bulk", json={"action": action, "ids": ids})

    retried = ok(await bulk("retry"))
    assert (retried["done"], set(retried["refused"])) == (1, {two["id"], ids[2]})
    assert ok(await bulk("cancel"))["done"] == 2
    assert ok(await bulk("reprocess_summary"))["done"] == 0
    assert ok(await bulk("delete"))["done"] == 2
    assert ok(await studio.ann.get("/api/recordings"))["items"] == []
    assert await studio.blobs() == []


async def test_the_first_of_many_is_done_before_the_last_is_begun(studio: Studio):
    """Two of a person's recordings are open at a time; another person's does not wait for them."""
    mine = [await studio.upload(QUIET, f"{number}.wav") for number in range(4)]
    positions = {job["recording_id"]: job["position"] for job in await studio.jobs()}
    assert [positions[one["id"]] for one in mine[2:]] == [3, 4]
    theirs = await studio.upload(by=studio.bob)
    async with studio.working(4):
        for one in [*mine, theirs]:
            await studio.done(one["id"])
    spans = [(job.started_at, job.finished_at) for job in [await studio.app.get(one["job_id"]) for one in mine]]
    for place, (began, _) in enumerate(spans[2:], 2):
        assert sum(ended <= began for _, ended in spans[:place]) >= place - 1
    last = max(began for began, _ in spans)
    assert (await studio.app.get(theirs["job_id"])).started_at < last


@on_sqlite
async def test_a_long_silence_is_split_into_jobs_that_share_their_progress_and_their_engine(
    studio: Studio, ear: Ear, monkeypatch: pytest.MonkeyPatch
):
    ear.hears = None
    opened, really = [], hearing.engine_for
    monkeypatch.setattr(hearing, "engine_for", lambda *args: opened.append(really(*args)) or opened[-1])
    one = await studio.finished(encoded(silence(70), "flac"), "pause.flac")
    assert len({id(engine) for engine in opened}) == 1
    row = await studio.app.get(one["jobs"][0]["id"])
    assert row.children_total >= 2
    assert (row.progress_current, row.progress_total) == (one["duration"], one["duration"])


@on_sqlite
async def test_the_jobs_come_with_their_recordings_as_the_list_tells_of_them(studio: Studio):
    first, second = [(await studio.upload(QUIET, f"{name}.wav"))["id"] for name in ("one", "two")]
    ok(await studio.ann.post(f"/api/recordings/{first}/cancel"))
    listed = ok(await studio.ann.get("/api/recordings"))["items"]
    told = ok(await studio.ann.get("/api/recordings/job-queue-status"))["recordings"]
    assert [(one["id"], one["status"], one["job"]["recording_id"]) for one in told] == [
        (second, "PENDING", second),
        (first, "CANCELLED", first),
    ]
    assert [sorted(one) for one in told] == [sorted(one) for one in listed]
    assert ok(await studio.bob.get("/api/recordings/job-queue-status"))["recordings"] == []
