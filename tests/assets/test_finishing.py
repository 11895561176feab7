"""A finished upload is handed over by a job, and whoever sent it hears of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.assets import media
from tests.assets.test_forms import form, post
from tests.assets.test_receiving import left
from tests.assets.tus import VERSION, Notes, begun, offset_of, send
from tests.engine.working import eventually, happened, in_state, working
from tests.server.api.site import Site, ok, opened_site, problem
from towpath import App, Context, Job, LeaseLost, Settings, assets
from towpath.assets import uploads
from towpath.assets.tidying import tidy
from towpath.assets.uploads import appending, finishing
from towpath.core import transitions
from towpath.core.ids import uuid7 as new_worker_id
from towpath.server import create_app, running, upload_worker
from towpath.server.routes import uploads as upload_routes
from towpath.store.contract import Claim
from towpath.testing import drain

DATA = media.sound("wav", 2.0)
HALF = len(DATA) // 2


async def finishers(app: App) -> Sequence[Job]:
    return await app.list(operation=finishing.FINISH)


async def shown(site: Site, where: str) -> dict[str, Any]:
    found: dict[str, Any] = ok(await site.ann.get(where))
    return found


async def test_the_last_byte_brings_the_job_along_and_no_other_does(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA[:HALF])
    assert await finishers(site.app) == []
    await send(site.ann, where, HALF, DATA[HALF:])
    [job] = await finishers(site.app)
    assert (job.state, job.tenant, job.queue) == ("succeeded", "north", "uploads")
    assert (await shown(site, where))["result"] == {"id": f"note-{notes.given[0][1]}"}


async def test_a_last_part_that_is_not_committed_brings_no_job(site: Site, notes: Notes, monkeypatch: pytest.MonkeyPatch):
    where = await begun(site.ann, len(DATA))

    async def broken(*_: object) -> str:
        raise RuntimeError("the job could not be made")

    with monkeypatch.context() as patched:
        patched.setattr(appending, "enqueue_finish", broken)
        assert (await send(site.ann, where, 0, DATA)).status_code == 500
    assert (await offset_of(site.ann, where), await finishers(site.app), await left(site.app)) == (0, [], [])
    assert (await send(site.ann, where, 0, DATA)).status_code == 204
    assert len(notes.given) == 1


async def test_a_refused_file_is_told_to_its_sender_and_is_no_case_for_the_inbox(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA), title="late")
    told = problem(await send(site.ann, where, 0, DATA), 422, "invalid")
    assert told["errors"] == [{"path": "title", "message": "is no good title after all"}]
    [job] = await finishers(site.app)
    assert (job.state, job.result) == ("succeeded", {"refused": "title: is no good title after all"})
    found = await shown(site, where)
    assert (found["state"], found["error"]["status"], found["error"]["detail"]) == ("failed", 422, told["detail"])
    assert (await site.ann.head(where, headers=VERSION)).status_code == 410
    assert await left(site.app) == []


async def test_what_could_not_be_handed_over_is_handed_over_later_and_nobody_is_kept_waiting(small_site: Site, notes: Notes):
    notes.error = ConnectionError("the product is away")
    where = await begun(small_site.ann, len(DATA))
    assert (await send(small_site.ann, where, 0, DATA)).status_code == 204  # the bytes are here, and stay
    [job] = await finishers(small_site.app)
    [event] = await happened(small_site.app, job, "job.retry_scheduled")
    assert "the product is away" in str(event.message) + str(event.fields)
    assert (await shown(small_site, where))["state"] == "finishing"
    problem(await small_site.ann.delete(where, headers=VERSION), 409, "conflict")
    notes.error = None
    await in_state(small_site.app, job, "succeeded")
    assert (await shown(small_site, where))["state"] == "done"
    assert [name for name, _, _ in notes.given] == ["ann"]
    assert (await small_site.ann.get(f"/api/assets/{notes.given[0][1]}/content")).content == DATA


@pytest.mark.usefixtures("nobody_works")
async def test_a_server_without_a_worker_takes_uploads_that_a_worker_elsewhere_hands_over(
    site: Site, notes: Notes, database_url: str
):
    where = await begun(site.ann, len(DATA))
    assert (await send(site.ann, where, 0, DATA)).status_code == 204
    assert ((await shown(site, where))["state"], notes.given) == ("finishing", [])
    elsewhere = notes.attached(App(database_url, settings=site.app.settings))
    assets.attach(elsewhere)
    async with elsewhere, working(elsewhere, "uploads"):
        assert await eventually(lambda: _done(site, where))
    assert notes.given == [("ann", where.rsplit("/", 1)[1], {})]


async def _done(site: Site, where: str) -> bool:
    return (await shown(site, where))["state"] == "done"


@pytest.mark.usefixtures("nobody_works")
async def test_a_form_that_nobody_has_made_a_recording_of_yet_says_where_to_look(site: Site):
    taken = ok(await post(site, form(("file", "a.wav", DATA), ("title", None, b"Monday"))), 202)
    assert (taken["id"], taken["job_id"]) == (None, None)
    where = f"/api/uploads/{taken['upload_id']}"
    assert (await shown(site, where))["state"] == "finishing"
    await drain(site.app, ["uploads"])
    made = (await shown(site, where))["result"]
    assert ok(await site.ann.get(f"/api/recordings/{made['id']}"))["title"] == "Monday"
    assert (await site.app.get(made["job_id"])).operation == "transcribe"


@pytest.mark.usefixtures("nobody_works")
async def test_a_whole_file_waits_for_a_worker_however_long_that_takes(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA)
    site.app.settings = replace(site.app.settings, keep_unfinished_uploads_hours=0.0)
    assert (await tidy(site.app))["abandoned"] == 0
    await drain(site.app, ["uploads"])
    assert (await shown(site, where))["state"] == "done"


@pytest.mark.usefixtures("nobody_works")
async def test_a_worker_whose_app_knows_no_such_purpose_leaves_the_file_to_others(
    site: Site, notes: Notes, database_url: str
):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA)
    [job] = await finishers(site.app)
    stranger = App(database_url, settings=site.app.settings)
    assets.attach(stranger)
    async with stranger:
        await drain(stranger, ["uploads"])
    [event] = await happened(site.app, job, "job.retry_later")
    assert "'note'" in str(event.message) + str(event.fields)
    assert (await shown(site, where))["state"] == "finishing"
    assert (await site.app.get(job.id)).failures == 0


async def test_a_job_that_comes_again_hands_nothing_over_a_second_time(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA)
    upload_id = where.rsplit("/", 1)[1]
    again = await site.app.enqueue(finishing.FINISH, {"upload_id": upload_id}, tenant="north")
    assert (await in_state(site.app, again, "succeeded")).result == {"id": f"note-{upload_id}"}
    assert len(notes.given) == 1
    gone = await site.app.enqueue(finishing.FINISH, {"upload_id": "nobody's"}, tenant="north")
    assert (await in_state(site.app, gone, "succeeded")).result == {"given_up": True}


async def test_two_apps_in_one_process_do_not_see_each_others_purposes(tmp_path: Any, notes: Notes):
    one = notes.attached(App(f"sqlite:///{tmp_path}/one.db"))
    other = App(f"sqlite:///{tmp_path}/other.db")
    assets.on_upload(other, "letter", notes.receive, kinds=None)
    for app in (one, other):
        assets.attach(app)
    async with one, other:
        wanted = uploads.Wanted(10, "a.wav", "note", {})
        assert (await uploads.create(one, assets.Sender("north"), wanted)).purpose == "note"
        with pytest.raises(assets.AssetRefused, match="known are: letter") as refused:
            await uploads.create(other, assets.Sender("north"), wanted)
        assert refused.value.path == "purpose"


@pytest.mark.usefixtures("nobody_works")
async def test_an_attempt_that_lost_its_job_while_it_put_the_parts_together_changes_nothing(
    site: Site, notes: Notes, monkeypatch: pytest.MonkeyPatch
):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA)
    upload_id, [job] = where.rsplit("/", 1)[1], await finishers(site.app)
    [taken] = await site.app.services.store.claim(Claim("uploads", 1, new_worker_id(), 60.0))
    late, whole = Context(taken, site.app.services, 60.0), finishing._joined
    reached, gate = asyncio.Event(), asyncio.Event()

    async def halting(ctx: Context, *rest: Any) -> AsyncIterator[bytes]:
        async for piece in whole(ctx, *rest):
            yield piece
        if ctx is late:
            reached.set()
            await gate.wait()

    monkeypatch.setattr(finishing, "_joined", halting)
    async with asyncio.timeout(60):
        slow = asyncio.create_task(finishing.finish(site.app, late, upload_id))
        await reached.wait()
        await site.app.services.store.settle([transitions.release(taken.id, taken.attempt)])  # as if it had been rescued
        async with working(site.app, "uploads"):
            await in_state(site.app, job, "succeeded")
        gate.set()
        with pytest.raises(LeaseLost):
            await slow
    assert (await shown(site, where))["result"] == {"id": f"note-{upload_id}"}
    assert len(notes.given) == 1
    assert (await site.ann.get(f"/api/assets/{upload_id}/content")).content == DATA


async def test_a_server_is_a_worker_from_its_first_upload_on(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA[:HALF])
    assert list(await site.app.workers()) == []
    await send(site.ann, where, HALF, DATA[HALF:])
    [worker] = await site.app.workers()
    assert worker.queues == ["uploads"]


async def test_a_server_that_stops_hands_back_what_it_was_handing_over_and_the_next_one_goes_on(
    database_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(upload_worker, "_SECONDS_TO_END", 0.05)
    monkeypatch.setattr(upload_routes, "HANDING_OVER", 0.05)
    reached = asyncio.Event()

    async def endless(*_: object) -> dict[str, Any]:
        reached.set()
        await asyncio.Event().wait()
        return {}

    first = App(database_url, settings=settings)
    assets.on_upload(first, "note", Notes().receive, prepare=endless)
    async with opened_site(first) as site, asyncio.timeout(60):
        where = await begun(site.ann, len(DATA))
        assert (await send(site.ann, where, 0, DATA)).status_code == 204
        await reached.wait()
    second, notes = App(database_url, settings=settings), Notes()
    async with running(create_app(notes.attached(second))):
        [job] = await finishers(second)
        assert (await in_state(second, job, "succeeded")).failures == 0
    assert notes.given == [("ann", where.rsplit("/", 1)[1], {})]
