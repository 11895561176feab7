"""Two tenants: what one has, the other neither sees nor touches; an administrator sees both."""

from tests.products.recordings.studio import Studio
from tests.server.api.site import ok, problem


async def test_a_tenant_sees_only_its_own(studio: Studio):
    mine, theirs = await studio.upload(), await studio.upload(by=studio.bob, title="secret")
    assert [one["id"] for one in ok(await studio.ann.get("/api/recordings"))["items"]] == [mine["id"]]
    assert [one["recording_id"] for one in await studio.jobs()] == [mine["id"]]
    assert {one["id"] for one in ok(await studio.root.get("/api/recordings"))["items"]} == {mine["id"], theirs["id"]}
    assert [one["id"] for one in ok(await studio.root.get("/api/recordings?tenant=south"))["items"]] == [theirs["id"]]
    problem(await studio.ann.get("/api/recordings?tenant=south"), 403, "forbidden")
    problem(await studio.nobody.get("/api/recordings"), 401, "unauthenticated")
    assert (await studio.nobody.post("/upload", files={"file": ("x.wav", b"RIFF")})).status_code == 401


async def test_foreign_ids_do_nothing_in_bulk(studio: Studio):
    theirs = await studio.upload(by=studio.bob)
    for action in ("retry", "cancel", "delete", "reprocess_transcription", "reprocess_summary"):
        done = ok(await studio.ann.post("/api/recordings/bulk", json={"action": action, "ids": [theirs["id"]]}))
        assert done == {"done": 0, "refused": {theirs["id"]: "not found"}}
    assert (await studio.get(theirs["id"], studio.bob))["status"] == "PENDING"


async def test_a_job_with_somebody_elses_recording_in_its_payload_finds_nothing(studio: Studio):
    theirs = await studio.upload(by=studio.bob)
    job = await studio.app.enqueue("transcribe", {"recording_id": theirs["id"]}, tenant="north")
    async with studio.working():
        failed = await studio.app.get(job.id) if await _ended(studio, job.id) else None
    assert failed.state == "failed"
    assert "has been deleted" in failed.error["message"]


async def _ended(studio: Studio, job_id: str) -> bool:
    from tests.engine.working import ended

    return (await ended(studio.app, job_id)).ended


async def test_another_person_of_the_tenant_sees_the_recording_but_not_its_jobs_in_their_popup(studio: Studio):
    from towpath.identity import accounts

    await accounts.create(studio.app.services.store, "amy", tenants=["north"], admin=False)
    amy = await studio.site.person("amy")
    async with amy:
        sent = await studio.upload()
        assert (await studio.get(sent["id"], amy))["creator"] == "ann"
        assert await studio.jobs(amy) == []


async def test_priority_zero_needs_its_scope(studio: Studio):
    from tests.products.recordings.studio import QUIET

    problem(await studio.send(QUIET, priority="0"), 403, "forbidden")
    sent = await studio.upload(by=studio.root, priority="0")
    assert (await studio.app.get(sent["job_id"])).priority == 0
