"""Files become recordings: dropped, staged, sent, interrupted in every way, listed and shown in the popup."""

import asyncio
import io
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import Route, expect
from pytest_asyncio import fixture

from tests.browser.conftest import Visit
from tests.browser.hostile import expect_harmless, hostile
from tests.browser.place import Place, fresh
from tests.browser.recordings import BROKEN, Desk, quiet, said
from tests.browser.wire import laid_wire
from tests.engine.working import eventually
from tests.products.recordings.ear import Ear
from towpath import Fatal
from towpath.recordings import windows

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenDesk = Callable[..., Awaitable[Desk]]
SLOW = 150_000
"""Bytes per second at which a file of megabytes is under way for longer than a test looks at it."""


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    ear = Ear()
    monkeypatch.setattr(windows, "_hear_window", ear.hear)
    return ear


@fixture(loop_scope="session")
async def sit_down(visit: Visit, place: Place, tenant: str) -> OpenDesk:
    """Opens the page in a browser of its own: for a new person of the test's tenant, or for who sits at a desk already."""

    async def sit(same_as: Desk | None = None) -> Desk:
        visitor = await visit(accept_downloads=True)
        if same_as:
            await visitor.context.add_cookies(await same_as.page.context.cookies())
        else:
            await visitor.enter(await place.person(fresh("speaker"), tenant))
        desk = Desk(visitor)
        await desk.open()
        return desk

    return sit


@fixture(loop_scope="session")
async def desk(sit_down: OpenDesk) -> Desk:
    return await sit_down()


async def test_an_upload_waits_for_the_network_and_goes_on_by_itself(visit: Visit, place: Place, tenant: str):
    async with laid_wire(place.address) as wire:
        visitor = await visit()
        visitor.address = wire.address
        visitor.expects("net::ERR_")
        await visitor.enter(await place.person(fresh("speaker"), tenant))
        desk = Desk(visitor)
        await desk.open()
        await desk.slow_down(SLOW)
        await desk.upload({"long.wav": quiet(60, "wav")})
        await expect(desk.staged("long")).to_contain_text("KiB of 1.8 MiB")
        async with desk.page.expect_event("requestfailed", lambda request: request.method == "PATCH"):
            await desk.page.context.set_offline(True)
            wire.cut()
        await expect(desk.staged("long")).to_contain_text("waits for the network")
        await expect(desk.docked("long")).to_contain_text("waits for the network")

        await desk.slow_down(None)
        wire.mend()
        async with desk.page.expect_request(lambda request: request.method == "PATCH") as going_on:
            await desk.page.context.set_offline(False)
        assert int((await going_on.value).headers["upload-offset"]) > 0, "it began anew"
        await expect(desk.listed("long")).to_contain_text("Done")
        await desk.expect_dock("done", "long")
        await expect(desk.staging).to_have_count(0)


async def test_what_the_server_refuses_survives_a_reload_and_is_changed_or_removed(desk: Desk):
    desk.visitor.expects("status of 422")
    await desk.drop({"klingon.mp3": said(), "diary.mp3": b"Dear diary, today I recorded nothing.\n" * 50})
    await desk.staged("klingon").get_by_role("button", name="Options").click()
    await desk.staged("klingon").get_by_label("Language").fill("tlh")
    await desk.staging.get_by_role("button", name="Upload 2 files").click()
    await expect(desk.staged("klingon")).to_contain_text("tlh")
    await expect(desk.staged("diary")).to_contain_text("is text")
    await desk.expect_dock("failed", "klingon", "diary")

    await desk.reload(written="is text")
    await desk.expect_dock("failed", "klingon", "diary")
    await expect(desk.docked("diary")).to_contain_text("is text")
    for row in (desk.docked("diary"), desk.staged("diary")):
        await expect(row.get_by_role("button", name="Remove")).to_be_visible()
        await expect(row.get_by_role("button", name="Retry")).to_have_count(0)
    await desk.docked("diary").get_by_role("button", name="Remove").click()
    await desk.expect_dock("failed", "klingon")
    await desk.staged("klingon").get_by_role("button", name="Options").click()
    await desk.staged("klingon").get_by_label("Language").fill("en")
    await desk.staged("klingon").get_by_role("button", name="Retry").click()
    await expect(desk.listed("klingon")).to_contain_text("Done")
    await desk.page.reload()
    await desk.expect_list("klingon")
    await desk.expect_counts(active=0, done=1, failed=0)
    await expect(desk.staging).to_have_count(0)


async def test_a_file_that_has_arrived_is_not_asked_for_again_although_the_browser_never_heard_of_it(desk: Desk):
    async def lose_answer(route: Route) -> None:
        if route.request.method == "PATCH":
            await route.fetch()
            arrived.set()
        else:
            await route.continue_()

    arrived = asyncio.Event()
    await desk.page.route("**/api/uploads/*", lose_answer)
    await desk.upload({"talk.mp3": said()})
    await asyncio.wait_for(arrived.wait(), 20)
    await desk.lose_files()
    await desk.reload(written="/api/uploads/")
    await expect(desk.listed("talk")).to_contain_text("Done")
    await desk.expect_counts(active=0, done=1, failed=0)
    await expect(desk.staging).to_have_count(0)


async def test_a_file_that_the_browser_lost_is_chosen_again_and_goes_on(desk: Desk):
    await desk.drop({"talk.mp3": said()})
    await expect(desk.staged("talk")).to_be_visible()
    await desk.lose_files()
    await desk.reload(written="talk")
    await expect(desk.staged("talk")).to_contain_text("could not keep the file")
    await desk.page.get_by_label("Files to go on with").set_input_files(
        [{"name": "talk.mp3", "mimeType": "", "buffer": said()}]
    )
    await desk.staged("talk").get_by_role("button", name="Upload talk").click()
    await expect(desk.listed("talk")).to_contain_text("Done")


async def test_staged_files_survive_a_reload_with_what_was_said_about_them(desk: Desk):
    await desk.drop({"one.mp3": quiet(), "two.mp3": quiet(2)})
    await desk.staged("one").get_by_role("button", name="Options").click()
    fields = desk.staging
    await fields.get_by_label("Title").fill("The first")
    await fields.get_by_label("Language").fill("en")
    await fields.get_by_label("Language").press("Tab")
    await fields.get_by_label("Summary").select_option("None")
    await fields.get_by_label("Priority").select_option("Low")
    await expect(desk.staged("The first")).to_contain_text("en, no summary, low")

    await desk.reload(written="The first")
    await expect(desk.staging.get_by_role("heading")).to_contain_text("2 files ready")
    await expect(desk.staged("The first")).to_contain_text("en, no summary, low")
    await expect(desk.staged("two")).to_be_visible()
    assert await desk.recordings() == {}
    await desk.staged("The first").get_by_role("button", name="Upload The first").click()
    await expect(desk.listed("The first")).to_contain_text("Done")
    await expect(desk.staging.get_by_role("heading")).to_contain_text("1 file ready")
    await desk.staged("two").get_by_role("button", name="Remove two").click()
    await expect(desk.staging).to_have_count(0)
    found = (await desk.recordings())["The first"]
    assert (found["file_name"], found["language"], found["auto_summary"]) == ("one.mp3", "en", False)


async def test_dropped_files_start_at_once_where_that_is_set(desk: Desk):
    await desk.page.get_by_label("Upload at once").check()
    await desk.page.reload()
    await expect(desk.page.get_by_label("Upload at once")).to_be_checked()
    await desk.page.get_by_label("Files to upload").first.set_input_files(
        [{"name": f"{name}.mp3", "mimeType": "audio/mpeg", "buffer": quiet()} for name in ("one", "two")]
    )
    await expect(desk.listed("one")).to_contain_text("Done")
    await expect(desk.listed("two")).to_contain_text("Done")
    await desk.expect_dock("done", "one", "two")


async def test_a_cancelled_upload_leaves_nothing_behind(desk: Desk, place: Place):
    before = await blobs(place)
    await desk.slow_down(SLOW)
    async with desk.page.expect_response(lambda answer: answer.status == 201) as beginning:
        await desk.upload({"long.wav": quiet(60, "wav")})
    address = (await (await beginning.value).all_headers())["location"]
    await expect(desk.staged("long")).to_contain_text("of 1.8 MiB")
    async with desk.page.expect_response(lambda answer: answer.request.method == "DELETE") as deleting:
        await desk.staged("long").get_by_role("button", name="Cancel the upload of long").click()
    assert (await deleting.value).status == 204
    await expect(desk.staging).to_have_count(0)
    await expect(desk.dock).to_have_count(0)
    assert (await desk.visitor.context.request.get(desk.visitor.address + address)).status == 404
    await eventually(lambda: unchanged(place, before))
    assert await desk.recordings() == {}


async def blobs(place: Place) -> set[str]:
    return {info.key async for info in place.app.services.blobs.list()}


async def unchanged(place: Place, before: set[str]) -> bool:
    return await blobs(place) == before


async def test_a_cancelled_transcription_really_stops(desk: Desk, place: Place, ear: Ear):
    ear.held.clear()
    await desk.upload({"talk.mp3": said()})
    await expect(desk.docked("talk")).to_contain_text("Transcribing")
    await asyncio.wait_for(ear.reached.wait(), 20)
    await desk.docked("talk").get_by_role("button", name="Cancel talk").click()
    await expect(desk.listed("talk")).to_contain_text("Cancelled")
    await desk.look_at("done")
    await expect(desk.docked("talk")).to_contain_text("Cancelled")
    found = (await desk.recordings())["talk"]
    family = [await place.app.get(found["job"]["id"]), *await place.app.list(parent=found["job"]["id"])]
    assert (found["status"], {job.state for job in family}) == ("CANCELLED", {"cancelled"})
    ear.held.set()

    await desk.docked("talk").get_by_role("button", name="Retry").click()
    await expect(desk.listed("talk")).to_contain_text("Done")
    assert len(ear.windows) == 1, "what was cancelled went on"


async def test_the_popup_says_the_same_after_a_reload_and_in_another_browser(desk: Desk, sit_down: OpenDesk, ear: Ear):
    ear.failing = Fatal("the engine lost its voice", remedy="ask for another one")
    await desk.upload({"hoarse.mp3": said()})
    await expect(desk.listed("hoarse")).to_contain_text("lost its voice")
    ear.failing = None
    await desk.upload({"fine.mp3": said(), "broken.mp3": BROKEN})
    other = await sit_down(desk)
    for one in (desk, other):
        await one.expect_dock("done", "fine")
        await one.expect_dock("failed", "hoarse", "broken")
        await expect(one.docked("hoarse")).to_contain_text("The engine lost its voice. Ask for another one.")
    await desk.page.reload()
    await desk.expect_dock("done", "fine")
    await desk.expect_dock("failed", "hoarse", "broken")

    await desk.docked("hoarse").get_by_role("button", name="Retry").click()
    await desk.docked("broken").get_by_role("button", name="Delete").click()
    await desk.page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    for one in (desk, other):
        await one.expect_counts(active=0, done=2, failed=0)
        await one.expect_list("hoarse", "fine")
    await desk.page.get_by_role("button", name="More about recordings").click()
    await desk.page.get_by_role("menuitem", name="Clear finished jobs").click()
    question = desk.page.get_by_role("dialog", name="Clear finished jobs?")
    await expect(question).to_contain_text("The recordings stay")
    await question.get_by_role("button", name="Clear them").click()
    for one in (desk, other):
        await expect(one.dock).to_have_count(0)
        await one.expect_list("hoarse", "fine")


async def test_the_popup_becomes_small_when_all_is_done_and_goes_away_for_good(visit: Visit, place: Place, tenant: str):
    visitor = await visit()
    await visitor.enter(await place.person(fresh("speaker"), tenant))
    desk = Desk(visitor)
    page = await desk.open(kept=False)
    await desk.upload({"short.mp3": quiet()})
    fold = desk.dock.get_by_role("button", name="All done")
    await expect(fold).to_have_attribute("aria-expanded", "false")
    await expect(desk.listed("short")).to_contain_text("Done")
    await expect(desk.dock).to_have_count(0)
    await page.reload()
    await expect(desk.listed("short")).to_contain_text("Done")
    await visitor.settled()
    await expect(desk.dock).to_have_count(0)

    await desk.upload({"another.mp3": quiet(2)})
    await fold.click()
    await desk.expect_dock("done", "short", "another")
    await expect(desk.dock.get_by_role("button", name="Clear finished jobs")).to_be_visible()


async def test_ticked_recordings_are_exported_together_and_deleted_together(desk: Desk, place: Place):
    before = await blobs(place)
    await desk.upload({"one.mp3": said(), "two.mp3": said("ogg"), "three.mp3": quiet()})
    for title in ("one", "two", "three"):
        await expect(desk.listed(title)).to_contain_text("Done")
    await desk.listed("one").get_by_role("checkbox").check()
    await desk.listed("two").get_by_role("checkbox").check()
    ticked = desk.page.get_by_role("region", name="Ticked recordings")
    await expect(ticked).to_contain_text("2 recordings ticked")
    await ticked.get_by_role("button", name="Export").click()
    async with desk.page.expect_download() as downloading:
        await desk.page.get_by_role("menuitem", name="Plain text").click()
    download = await downloading.value
    data = await asyncio.to_thread(Path(await download.path()).read_bytes)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert download.suggested_filename.endswith(".zip")
    assert set(texts) == {"one.txt", "two.txt"}
    assert all(len(text.split()) > 3 for text in texts.values())

    await ticked.get_by_role("button", name="Delete").click()
    await desk.page.get_by_role("dialog").get_by_role("button", name="Delete them").click()
    await desk.expect_list("three")
    await desk.expect_dock("done", "three")
    await desk.listed("three").get_by_role("button", name="More about three").click()
    await desk.page.get_by_role("menuitem", name="Delete").click()
    await desk.page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    await expect(desk.page.get_by_role("heading", name="Drop the first recording here")).to_be_visible()
    await eventually(lambda: unchanged(place, before))


async def test_names_and_titles_are_only_shown(desk: Desk):
    name, title = "../../<img class=planted src=x onerror=alert(1)>", hostile("talk")
    await desk.drop({f"{name}.mp3": quiet(), "plain.mp3": quiet(2)})
    await desk.staged("plain").get_by_role("button", name="Options").click()
    await desk.staging.get_by_label("Title").fill(title)
    await desk.staging.get_by_label("Title").press("Tab")
    for row in (desk.staged(name), desk.staged(title), desk.docked(name), desk.docked(title)):
        await expect(row).to_be_visible()
    await expect_harmless(desk.page, "talk")

    await desk.staging.get_by_role("button", name="Upload 2 files").click()
    names = (name.removeprefix("../../"), title)
    for shown in names:
        await expect(desk.listed(shown)).to_contain_text("Done")
    await desk.expect_dock("done", *names)
    await desk.listed(title).get_by_role("button", name=f"More about {title}").click()
    await desk.page.get_by_role("menuitem", name="Delete").click()
    await expect(desk.page.get_by_role("dialog")).to_contain_text(title)
    await desk.page.keyboard.press("Escape")
    for shown in names:
        await desk.open()
        await desk.listed(shown).get_by_role("link", name=shown).click()
        await expect(desk.page.get_by_role("heading", level=1)).to_have_text(shown)
        await expect(desk.page.locator(".planted")).to_have_count(0)
