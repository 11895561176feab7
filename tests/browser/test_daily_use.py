"""What people do with recordings every day, in a real browser: finding, sorting, asking, summarising in their own way."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect
from pytest_asyncio import fixture

from tests.browser.accessible import findings
from tests.browser.conftest import Visit
from tests.browser.contrast import too_faint
from tests.browser.covering import covered, covered_when_focused
from tests.browser.place import Place, fresh, opened_place
from tests.browser.recordings import BROKEN, Desk, said
from tests.browser.visitors import Visitor
from tests.browser.walking import walk_to
from tests.engine.working import eventually
from tests.models.wire_server import WireServer
from tests.products.recordings.media import encoded, speech

pytestmark = pytest.mark.asyncio(loop_scope="session")

TENANT = "daily"
SIZES = {"desk": ViewportSize(width=1440, height=900), "phone": ViewportSize(width=390, height=844)}


@fixture(scope="module", loop_scope="session")
async def place(browser: Any, wire: WireServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with opened_place(tmp_path_factory.mktemp("place"), chat_url=wire.url, chat_model="m") as place:
        yield place


@fixture(scope="module", loop_scope="session")
async def client(place: Place) -> AsyncIterator[httpx.AsyncClient]:
    async with place.client(TENANT) as client:
        yield client


@fixture(scope="module", loop_scope="session")
async def talk(client: httpx.AsyncClient) -> dict[str, Any]:
    """A recording that is done and in the index, beside another of the same content."""
    file = encoded(speech("beckett"), "mp3")
    first, second = [
        (await client.post("/upload", files={"file": (name, file)}, data={"title": title, "auto_summary": "false"})).json()
        for name, title in (("talk.mp3", "Readings"), ("again.mp3", "Readings again"))
    ]

    async def found() -> bool:
        rows = (await client.get("/api/recordings")).json()["items"]
        hits = (await client.get("/api/documents/search", params={"q": "ever failed"})).json()["results"]
        return all(row["has_transcript"] for row in rows) and {hit["recording_id"] for hit in hits} >= {
            first["id"],
            second["id"],
        }

    await eventually(found, within=120)
    transcript = (await client.get(f"/api/recordings/{first['id']}/transcript")).json()
    return {"id": first["id"], "other": second["id"], "lines": transcript["segments"]}


@fixture(loop_scope="session")
async def reader(visit: Visit, place: Place) -> Visitor:
    visitor = await visit(viewport=SIZES["desk"], accept_downloads=True)
    await visitor.enter(await place.person(fresh("reader"), TENANT))
    return visitor


def row_of(page: Page, title: str) -> Locator:
    items = page.get_by_role("list", name="Recordings").get_by_role("listitem")
    return items.filter(has=page.get_by_text(title, exact=True))


async def holds(page: Page) -> None:
    """Read by day and by night."""
    assert [*await findings(page), *await too_faint(page)] == []
    await page.emulate_media(color_scheme="dark")
    assert await too_faint(page) == []
    await page.emulate_media(color_scheme="light")


async def test_what_somebody_said_is_found_in_all_recordings_and_opens_at_its_second(reader: Visitor, talk: dict):
    line = talk["lines"][-1]
    words = " ".join(re.findall(r"\w+", line["text"])[:3])
    page = await reader.open("/recordings")
    await page.get_by_role("searchbox", name="Search in everything that was said").fill(f'"{words}"')
    hits = page.get_by_role("list", name="Hits").get_by_role("listitem")
    await expect(hits).to_have_count(2)
    await expect(hits.first.locator("mark").first).to_be_visible()
    await holds(page)
    hit = hits.filter(has_text="Readings again")
    await hit.get_by_role("link").click()
    await expect(page).to_have_url(re.compile(rf"/recordings/{talk['other']}\?t={int(line['start'])}$"))
    at = f"() => Math.abs(document.querySelector('audio')?.currentTime - {int(line['start'])}) < 0.3"
    await page.wait_for_function(at)
    await page.go_back()
    await expect(hits).to_have_count(2)
    await page.get_by_role("button", name="Back to the list").click()
    await expect(row_of(page, "Readings")).to_be_visible()


async def test_recordings_are_tagged_one_by_one_and_together_and_sorted_by_tags(reader: Visitor, talk: dict):
    page = await reader.open(f"/recordings/{talk['id']}")
    tags = page.get_by_role("group", name="Tags")
    await tags.get_by_role("button", name="Add a tag").click()
    await tags.get_by_role("combobox", name="New tag").fill("Board, 2026")
    await page.keyboard.press("Enter")
    await expect(tags.get_by_role("link", name="Board")).to_be_visible()
    await page.keyboard.press("Escape")
    await tags.get_by_role("button", name="Take the tag 2026 away").click()
    await expect(tags.get_by_role("link", name="2026")).to_have_count(0)
    await expect(page.get_by_text("1 other recording of the very same content")).to_be_visible()
    await tags.get_by_role("link", name="Board").click()

    await expect(page).to_have_url(re.compile(r"/recordings\?tag=Board"))
    rows = page.get_by_role("list", name="Recordings").get_by_role("listitem")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("MP3")
    await page.get_by_role("search", name="Filter recordings").get_by_role("button", name="Clear").click()
    await expect(row_of(page, "Readings again")).to_contain_text("sent before")
    await row_of(page, "Readings").get_by_role("checkbox").check()
    await row_of(page, "Readings again").get_by_role("checkbox").check()
    await page.get_by_role("region", name="Ticked recordings").get_by_role("button", name="Tags").click()
    dialog = page.get_by_role("dialog", name="Tags of 2 recordings")
    await dialog.get_by_role("combobox", name="Tags").fill("Later")
    await dialog.get_by_role("button", name="Add", exact=True).click()
    await expect(row_of(page, "Readings again").get_by_role("link", name="Later")).to_be_visible()
    await page.get_by_role("combobox", name="Tag", exact=True).select_option("Later")
    await expect(rows).to_have_count(2)
    await holds(page)


async def test_a_template_is_written_in_the_settings_and_followed(reader: Visitor, talk: dict, wire: WireServer):
    page = await reader.open("/settings/templates")
    await expect(page.get_by_role("heading", name="Minutes")).to_be_visible()
    await page.get_by_role("button", name="New template").click()
    dialog = page.get_by_role("dialog", name="New template")
    await dialog.get_by_role("textbox", name="Name").fill("Haiku")
    await dialog.get_by_role("textbox", name="Prompt").fill("Make a haiku of what is said.")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("listitem").filter(has_text="Haiku")).to_contain_text("Make a haiku")
    await holds(page)

    page = await reader.open(f"/recordings/{talk['id']}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Process it again").click()
    dialog = page.get_by_role("dialog", name="Process it again")
    await expect(dialog).to_contain_text("The transcript stays readable until the new one is there")
    await expect(dialog.get_by_role("button", name="Transcribe again")).to_be_enabled()
    await dialog.get_by_text("Summary", exact=True).click()
    await dialog.get_by_role("combobox", name="Summarise as").select_option("Haiku")
    await dialog.get_by_role("button", name="Summarise again").click()
    await expect(page.get_by_role("heading", level=2, name="Haiku")).to_be_visible()
    await expect(page.get_by_text("A summary of its own kind.")).to_be_visible()
    assert any("Make a haiku of what is said." in asked.body.decode() for asked in wire.asked)


@pytest.mark.parametrize("size", SIZES)
async def test_a_recording_is_asked_and_answers_with_links_to_seconds(visit: Visit, place: Place, talk: dict, size: str):
    visitor = await visit(viewport=SIZES[size])
    await visitor.enter(await place.person(fresh("asker"), TENANT))
    page = await visitor.open(f"/recordings/{talk['id']}")
    asking = page.get_by_role("region", name="Questions")
    await asking.get_by_role("textbox", name="Ask this recording").fill(f"What is said first, on a {size}?")
    await page.keyboard.press("Enter")
    answer = asking.get_by_role("listitem").filter(has_text=f"on a {size}?")
    second = answer.get_by_role("link", name=re.compile("Hear it at"))
    await expect(second.first).to_be_visible()
    await second.first.click()
    await page.wait_for_function("() => !document.querySelector('audio').paused")
    await page.keyboard.press("Escape")
    await holds(page)
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await page.reload()
    await expect(answer).to_be_visible()
    await answer.get_by_role("button", name="Remove the question").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
    await expect(answer).to_have_count(0)


async def test_jobs_are_listed_by_their_roots_and_unfold_their_children(reader: Visitor, talk: dict):
    page = await reader.open("/jobs")
    table = page.get_by_role("table", name="Jobs")
    names = table.get_by_role("link", name="transcribe.windows")
    root = table.get_by_role("row").filter(has=page.get_by_role("link", name="transcribe", exact=True)).last
    await expect(root).to_be_visible()
    await expect(names).to_have_count(0)
    unfold = root.get_by_role("button", name=re.compile("child"))
    await unfold.press("Enter")
    await expect(unfold).to_have_attribute("aria-expanded", "true")
    await expect(names).to_have_count(1)
    await holds(page)
    await root.get_by_role("link", name="transcribe", exact=True).focus()
    await page.keyboard.press("h")
    await expect(names).to_have_count(0)
    await page.get_by_role("checkbox", name="Fold children").uncheck()
    await expect(names).not_to_have_count(0)


async def test_a_failed_recording_stands_in_the_inbox_with_its_own_actions_and_can_be_dismissed(visit: Visit, place: Place):
    visitor = await visit(viewport=SIZES["desk"])
    await visitor.enter(await place.person(fresh("sender"), fresh("tenant")))
    desk = Desk(visitor)
    page = await desk.open()
    await desk.upload({"torn.mp3": BROKEN})
    await expect(desk.listed("torn")).to_contain_text("Failed")
    assert await page.locator(".toast").count() == 0  # the list and the dock say it
    page = await visitor.open("/inbox")
    group = page.get_by_role("main").get_by_role("listitem").filter(has_text="torn")
    await expect(group.get_by_role("link", name="torn")).to_be_visible()
    await expect(group.get_by_role("button", name="Retry")).to_be_visible()
    await expect(group.get_by_role("button", name="Edit and requeue")).to_have_count(0)
    await holds(page)
    await group.locator("a.message").click()
    row = page.get_by_role("row").filter(has_text="torn")
    await expect(row.get_by_role("button", name="Retry torn")).to_be_visible()
    await expect(row.get_by_role("button", name="Delete torn")).to_be_visible()
    await page.get_by_role("button", name="Dismiss", exact=True).click()
    await expect(page.get_by_role("heading", name="The inbox is empty")).to_be_visible()
    await page.get_by_role("button", name="1 dismissed group").click()
    await page.get_by_role("button", name="Bring back").click()
    await expect(group).to_be_visible()
    await group.get_by_role("button", name="Delete torn").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    await expect(group).to_have_count(0)


async def test_the_dock_covers_no_control_open_or_folded_and_what_was_rejected_goes_together(visit: Visit, place: Place):
    visitor = await visit(viewport=SIZES["desk"])
    await visitor.enter(await place.person(fresh("sender"), fresh("tenant")))
    desk = await rejected(visitor)
    page = visitor.page
    for _ in ("open", "folded"):
        for top in (0, 150, 10_000):
            await page.evaluate(f"window.scrollTo(0, {top})")
            assert await covered(page) == []
        await desk.dock.get_by_role("button", name="12 failed").click()
    await desk.staging.get_by_role("button", name="Remove all that stopped").click()
    await expect(desk.staging).to_have_count(0)
    await expect(desk.dock).to_have_count(0)


async def rejected(visitor: Visitor) -> Desk:
    """Twelve files that the server did not take, and the dock that says so, opened by hand."""
    visitor.expects("status of 422")
    desk = Desk(visitor)
    await desk.open()
    await desk.upload({f"{n}.mp3": b"Dear diary, nothing today.\n" * 50 for n in range(12)})
    await desk.expect_counts(failed=12)
    return desk


async def test_where_there_is_no_room_beside_the_page_every_control_can_be_brought_out_from_below_the_dock(
    visit: Visit, place: Place, talk: dict
):
    visitor = await visit(viewport=SIZES["phone"])
    await visitor.enter(await place.person(fresh("sender"), TENANT))
    desk = await rejected(visitor)
    for path, heading in {"/recordings": "Recordings", f"/recordings/{talk['id']}": "Readings", "/jobs": "Jobs"}.items():
        page = await walk_to(visitor, path, heading)
        for viewport in (SIZES["phone"], ViewportSize(width=1024, height=768), ViewportSize(width=1390, height=900)):
            await page.set_viewport_size(viewport)
            await expect(desk.dock.get_by_role("tablist")).to_be_visible()
            await visitor.settled()
            await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
            assert await covered(page) == [], (path, viewport)
            assert await covered_when_focused(page) == [], (path, viewport)
    await page.set_viewport_size(SIZES["phone"])
    await page.get_by_role("button", name="Menu").click()
    assert await covered_when_focused(page, "nav") == []
    await desk.look_at("failed")
    await desk.dock.get_by_role("button", name="Remove all 12 uploads that stopped").click()
    await expect(desk.dock).to_have_count(0)


async def test_the_palette_cancels_retries_and_pauses(visit: Visit, place: Place):
    tenant = fresh("tenant")
    visitor = await visit(viewport=SIZES["desk"])
    await visitor.enter(await place.person(fresh("root"), tenant, admin=True))
    job = await place.running(tenant, miles=400)
    page = await visitor.open(f"/jobs/{job.id}")
    await expect(page.get_by_role("heading", level=1, name="haul")).to_be_visible()
    typed = page.get_by_role("combobox", name="Find or do")
    await page.keyboard.press("Control+k")
    await typed.fill("cancel this")
    await expect(page.get_by_role("option", name="Cancel this job")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog", name="Cancel this job?").get_by_role("button", name="Cancel it").click()
    await place.becomes(job, "cancelled")
    await page.keyboard.press("Control+k")
    await typed.fill(f"retry {job.id}")
    await page.get_by_role("option", name=re.compile("Retry haul")).first.click()
    await place.becomes(job, "running")
    await page.keyboard.press("Control+k")
    await typed.fill("pause canal")
    await page.get_by_role("option", name="Pause the queue canal").click()

    async def paused() -> bool:
        return any(queue.name == "canal" and queue.paused for queue in await place.app.queues.list())

    await eventually(paused)
    await page.keyboard.press("Control+k")
    await typed.fill("resume canal")
    await page.get_by_role("option", name="Resume the queue canal").click()
    await eventually(lambda: _not(paused))
    await place.app.cancel(job.id)


async def _not(asked: Any) -> bool:
    return not await asked()


async def test_files_are_summarised_by_a_template_from_the_upload_on(visit: Visit, place: Place):
    visitor = await visit(viewport=SIZES["desk"])
    await visitor.enter(await place.person(fresh("sender"), fresh("tenant")))
    desk = Desk(visitor)
    page = await desk.open()
    await desk.drop({"call.mp3": said()})
    await desk.staged("call").get_by_role("button", name="Options").click()
    await desk.staged("call").get_by_label("Summary").select_option("Action items")
    await expect(desk.staged("call")).to_contain_text("summarised by a template")
    await desk.staging.get_by_role("button", name="Upload", exact=True).first.click()
    await expect(desk.listed("call")).to_contain_text("With a summary", timeout=60_000)
    await desk.listed("call").get_by_role("link", name="call").first.click()
    await expect(page.get_by_role("heading", level=2, name="Action items")).to_be_visible()
