"""Failures and the way back: one, a group, all, and with another payload."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")

MESSAGE = "no boat gets under this bridge"


async def low_bridges(place: Place, tenant: str, *names: str) -> list[str]:
    return [(await place.done("mend", {"name": name, "height": 1}, tenant)).id for name in names]


async def test_one_failure_is_requeued_and_the_others_stay(ann: Visitor, place: Place, tenant: str):
    names = [fresh("bridge") for _ in range(2)]
    first, second = await low_bridges(place, tenant, *names)
    page = await ann.open("/inbox")
    await expect(page.get_by_text("2 jobs failed for good, for 1 reason")).to_be_visible()
    await page.get_by_role("link", name=MESSAGE).click()
    place.works.lift(names[0])
    row = page.get_by_role("row").filter(has_text=first[-8:])
    await row.get_by_role("button", name="Requeue", exact=True).click()
    await expect(page.get_by_role("status").get_by_text("1 job queued again")).to_be_visible()
    await expect(row).to_have_count(0)
    await expect(page.get_by_role("row").filter(has_text=second[-8:])).to_be_visible()
    await place.becomes(await place.app.get(first), "succeeded")
    assert (await place.app.get(second)).state == "failed"


async def test_a_group_is_requeued_at_once(ann: Visitor, place: Place, tenant: str):
    names = [fresh("bridge") for _ in range(3)]
    jobs = await low_bridges(place, tenant, *names)
    page = await ann.open("/inbox")
    for name in names:
        place.works.lift(name)
    await page.get_by_role("listitem").filter(has_text=MESSAGE).get_by_role("button", name="Requeue 3").click()
    await expect(page.get_by_role("status").get_by_text("3 jobs queued again")).to_be_visible()
    await expect(page.get_by_role("heading", name="The inbox is empty")).to_be_visible()
    for job in jobs:
        await place.becomes(await place.app.get(job), "succeeded")


async def test_everything_is_requeued_after_a_question(ann: Visitor, place: Place, tenant: str):
    name = fresh("bridge")
    [job] = await low_bridges(place, tenant, name)
    page = await ann.open("/inbox")
    await page.get_by_role("button", name="Requeue all").click()
    dialog = page.get_by_role("dialog", name="Requeue everything?")
    await expect(dialog).to_contain_text("1 job")
    place.works.lift(name)
    await dialog.get_by_role("button", name="Requeue all").click()
    await expect(page.get_by_role("heading", name="The inbox is empty")).to_be_visible()
    await place.becomes(await place.app.get(job), "succeeded")


async def test_a_failure_is_edited_and_requeued_after_a_mistake_was_told_at_its_field(
    ann: Visitor, place: Place, tenant: str
):
    [job] = await low_bridges(place, tenant, fresh("bridge"))
    page = await ann.open("/inbox")
    await page.get_by_role("link", name=MESSAGE).click()
    await page.get_by_role("button", name="Edit and requeue").click()
    dialog = page.get_by_role("dialog", name="Edit and requeue")
    height = dialog.get_by_role("textbox", name="Height")
    await expect(height).to_have_value("1")
    await height.fill("99")
    ann.expects("status of 422")
    await dialog.get_by_role("button", name="Retry with this payload").click()
    await expect(height).to_have_accessible_description("Input should be less than or equal to 10")
    await expect(height).to_have_attribute("aria-invalid", "true")
    assert (await place.app.get(job)).state == "failed"
    await height.fill("4.5")
    await dialog.get_by_role("button", name="Retry with this payload").click()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("status").get_by_text("1 job queued again")).to_be_visible()
    await place.becomes(await place.app.get(job), "succeeded")
    assert (await place.app.payload(job))["height"] == 4.5


async def test_a_failure_can_be_edited_and_retried_from_its_own_page(ann: Visitor, place: Place, tenant: str):
    [job] = await low_bridges(place, tenant, fresh("bridge"))
    page = await ann.open(f"/jobs/{job}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Retry with another payload").click()
    dialog = page.get_by_role("dialog", name="Retry with another payload")
    await dialog.get_by_role("button", name="As JSON").click()
    editor = dialog.get_by_role("textbox", name="Payload as JSON")
    await editor.fill('{"name": "new"')
    await expect(dialog.get_by_role("button", name="Line 1, column 15")).to_be_visible()
    await editor.fill('{"name": "new", "height": 0}')
    ann.expects("status of 422")
    await dialog.get_by_role("button", name="Retry with this payload").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("height")
    await editor.fill('{"name": "new", "height": 5}')
    await dialog.get_by_role("button", name="Retry with this payload").click()
    await expect(page.get_by_role("main").locator("header")).to_contain_text("Succeeded")
    assert await place.app.result(job) == {"mended": "new"}


async def test_the_figure_beside_the_inbox_is_what_is_in_it_and_an_emptied_group_says_so(
    ann: Visitor, place: Place, tenant: str
):
    names = [fresh("bridge") for _ in range(2)]
    await low_bridges(place, tenant, *names)
    page = await ann.open("/inbox")
    badge = page.get_by_role("navigation", name="Main").get_by_role("link", name="Inbox")
    await expect(badge).to_contain_text("2 in the inbox")
    await expect(page.get_by_role("listitem").filter(has_text=MESSAGE)).to_contain_text("Give it at least 3 metres.")
    await page.get_by_role("link", name=MESSAGE).click()
    await expect(page.get_by_role("main")).to_contain_text("What to do. Give it at least 3 metres.")
    for name, left in zip(names, ("1 in the inbox", ""), strict=True):
        place.works.lift(name)
        row = page.get_by_role("row").filter(has=page.get_by_role("button", name="Requeue", exact=True))
        await row.last.get_by_role("button", name="Requeue", exact=True).click()
        await expect(badge).to_have_text(re.compile(f"^Inbox\\s*[0-9, ]*{left}$"))
    await expect(page.get_by_role("heading", name="Nothing is left in this group")).to_be_visible()
    await expect(page.get_by_role("main")).to_contain_text("none left")
    await page.get_by_role("link", name="Back to the inbox").click()
    await expect(page.get_by_role("heading", name="The inbox is empty")).to_be_visible()


async def test_a_payload_that_does_not_fit_is_edited_first(ann: Visitor, place: Place, tenant: str):
    job = await place.done("paint", "pink", tenant)
    page = await ann.open("/")
    await expect(page.get_by_text("Live", exact=True)).to_be_attached()
    await ann.settled()
    await page.get_by_role("link", name="1 in the inbox").click()  # what is in it is known before the page is opened
    line = page.get_by_role("listitem").filter(has_text="there is no paint of the colour 'pink'")
    await expect(line).to_contain_text("edit the payload and requeue")
    await line.get_by_role("button", name="Edit and requeue").click()
    dialog = page.get_by_role("dialog", name="Edit and requeue")
    await dialog.get_by_role("textbox", name="Payload as JSON").fill('"green"')
    await dialog.get_by_role("button", name="Retry with this payload").click()
    await place.becomes(job, "succeeded")
    await expect(page.get_by_role("heading", name="Nothing is left in this group")).to_be_visible()
