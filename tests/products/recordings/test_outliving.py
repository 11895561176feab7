"""What is known of a recording stays known when its jobs are pruned, cleared or deleted."""

from datetime import timedelta

from tests.engine.working import eventually, on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok, problem
from towpath import Fatal
from towpath.engine.tending import retention

SAID = ((0.1, 0.9, "The lock opens at seven."),)


async def _pruned(studio: Studio) -> None:
    """Everything that has ended goes, as after many days."""

    async def gone() -> bool:
        await retention.prune_all(studio.app.services, timedelta(0), failed=True)
        return not await studio.app.list()

    await eventually(gone)  # the clock must have passed the moment at which the last one ended


async def _cancelled(studio: Studio) -> str:
    sent = await studio.upload()
    ok(await studio.ann.post(f"/api/recordings/{sent['id']}/cancel"))
    return sent["id"]


async def test_a_cancelled_recording_whose_jobs_were_pruned_is_still_cancelled(studio: Studio):
    recording_id = await _cancelled(studio)
    await _pruned(studio)
    told = await studio.get(recording_id)
    assert (told["status"], told["job"], told["error"]) == ("CANCELLED", None, None)
    listed = ok(await studio.ann.get("/api/recordings", params={"status": "CANCELLED"}))["items"]
    assert [(one["id"], one["needs_retry"]) for one in listed] == [(recording_id, True)]


async def test_a_recording_whose_jobs_were_pruned_is_retried_by_a_new_job(studio: Studio, ear: Ear):
    ear.hears = SAID
    recording_id = await _cancelled(studio)
    await _pruned(studio)
    asked = {"action": "retry", "ids": [recording_id]}
    assert ok(await studio.ann.post("/api/recordings/bulk", json=asked)) == {"done": 1, "refused": {}}
    async with studio.working():
        assert (await studio.done(recording_id))["status"] == "COMPLETED"


async def test_a_failed_recording_whose_jobs_were_pruned_still_says_why_and_can_be_retried(studio: Studio, ear: Ear):
    ear.hears, ear.failing = SAID, Fatal("the model file is damaged")
    one = await studio.finished(auto_summary="false")
    await _pruned(studio)
    told = await studio.get(one["id"])
    assert (told["status"], told["error"]) == ("FAILED", "the model file is damaged")
    ear.failing = None
    ok(await studio.ann.post("/api/recordings/bulk", json={"action": "retry", "ids": [one["id"]]}))
    async with studio.working():
        assert (await studio.done(one["id"]))["status"] == "COMPLETED"


async def test_clearing_finished_jobs_leaves_the_warning_that_nobody_spoke(studio: Studio):
    one = await studio.finished(auto_summary="false")
    assert one["warning"] == "no speech was heard in it"
    ok(await studio.ann.post("/api/recordings/jobs/clear-completed"))
    told = await studio.get(one["id"])
    assert (told["status"], told["jobs"], told["warning"]) == ("COMPLETED", [], "no speech was heard in it")


@on_sqlite
async def test_the_newest_job_speaks_although_it_was_pruned_before_an_older_one(studio: Studio, ear: Ear):
    """Failed jobs are kept longer than cancelled ones."""
    ear.failing = Fatal("the model file is damaged")
    one = await studio.finished(auto_summary="false")
    ok(await studio.ann.post(f"/api/recordings/{one['id']}/reprocess", json={}), 202)
    ok(await studio.ann.post(f"/api/recordings/{one['id']}/cancel"))
    assert (await studio.get(one["id"]))["status"] == "CANCELLED"

    async def only_the_failed_is_left() -> bool:
        await retention.prune_all(studio.app.services, timedelta(0))
        return len((await studio.get(one["id"]))["jobs"]) == 1

    await eventually(only_the_failed_is_left)
    assert (await studio.get(one["id"]))["status"] == "CANCELLED"


@on_sqlite
async def test_a_failure_that_somebody_deleted_is_not_told_any_more(studio: Studio, ear: Ear):
    ear.hears = SAID
    one = await studio.finished(auto_summary="false")
    ear.failing = Fatal("the model file is damaged")
    made = ok(await studio.ann.post(f"/api/recordings/{one['id']}/reprocess", json={}), 202)
    async with studio.working():
        assert (await studio.done(one["id"]))["status"] == "FAILED"
    ok(await studio.ann.delete(f"/api/recordings/jobs/{made['job_id']}"))
    assert (await studio.get(one["id"]))["status"] == "COMPLETED"


@on_sqlite
async def test_a_completed_recording_without_jobs_needs_no_retry(studio: Studio):
    one = await studio.finished(auto_summary="false")
    await _pruned(studio)
    asked = {"action": "retry", "ids": [one["id"]]}
    assert list(ok(await studio.ann.post("/api/recordings/bulk", json=asked))["refused"]) == [one["id"]]
    problem(await studio.ann.post(f"/api/recordings/jobs/{one['job']['id']}/retry"), 404, "not_found")
