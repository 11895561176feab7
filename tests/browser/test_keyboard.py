"""Everything without a mouse: the palette, the table, the dialogs, and a focus that can be seen and is not lost."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOCUS_IS_VISIBLE = """() => {
  const style = getComputedStyle(document.activeElement);
  const marked = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== "none";
  return marked ? "" : document.activeElement.outerHTML.slice(0, 160);
}"""


async def press(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)


async def test_the_palette_goes_to_pages_and_finds_jobs(ann: Visitor, place: Place, tenant: str):
    job = await place.done("say", "hello", tenant, key="needle in the hay")
    page = await ann.open("/")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await press(page, "Control+k")
    field = page.get_by_role("combobox", name="Find or do")
    await expect(field).to_be_focused()
    await page.keyboard.type("inbo")
    await press(page, "Enter")
    await expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_focused()
    await press(page, "Control+k")
    await page.keyboard.type("needle")
    found = page.get_by_role("option").filter(has_text=job.id[-8:])
    await expect(found).to_be_visible()
    while await found.get_attribute("aria-selected") != "true":
        await press(page, "ArrowDown")
    await press(page, "Enter")
    await expect(page.get_by_role("heading", level=1, name="say")).to_be_visible()
    await expect(page).to_have_url(re.compile(job.id))
    assert await page.evaluate("document.activeElement.closest('main') !== null"), "the focus was lost on the way"
    await press(page, "Control+k")
    await expect(field).to_be_focused()
    await press(page, "Escape")
    await expect(field).to_have_count(0)


async def test_letters_jump_between_pages_but_not_while_typing(ann: Visitor, place: Place):
    page = await ann.open("/")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    for letter, heading in {"j": "Jobs", "q": "Queues", "w": "Workers", "c": "Schedules", "s": "Settings"}.items():
        await press(page, "g", letter)
        await expect(page.get_by_role("heading", level=1, name=heading)).to_be_focused()
    await press(page, "g", "j")
    await expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_focused()
    await press(page, "/")
    await expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    await press(page, "g", "i")
    await expect(page.get_by_role("searchbox", name="Search")).to_have_value("gi")
    await expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()


async def test_the_table_is_walked_ticked_and_opened_by_keys(ann: Visitor, place: Place, tenant: str):
    jobs = [await place.done("say", number, tenant) for number in range(3)]
    page = await ann.open("/jobs")
    rows = [page.get_by_role("row").filter(has_text=job.id[-8:]) for job in reversed(jobs)]
    await expect(rows[0]).to_be_visible()
    await press(page, "j")
    await expect(rows[0].get_by_role("link")).to_be_focused()
    assert await page.evaluate(FOCUS_IS_VISIBLE) == ""
    await press(page, "j", "j", "k", "x")
    await expect(rows[1].get_by_role("link")).to_be_focused()
    await expect(rows[1].get_by_role("checkbox")).to_be_checked()
    await expect(page.get_by_role("region", name="Ticked jobs")).to_contain_text("1 job ticked")
    await press(page, "Escape")
    await expect(rows[1].get_by_role("checkbox")).not_to_be_checked()
    await press(page, "Enter")
    await expect(page).to_have_url(re.compile(jobs[1].id))


async def test_a_dialog_keeps_the_focus_and_gives_it_back(ann: Visitor, place: Place, tenant: str):
    job = await place.running(tenant)
    page = await ann.open(f"/jobs/{job.id}")
    cancel = page.get_by_role("button", name="Cancel")
    await cancel.focus()
    await press(page, "Enter")
    dialog = page.get_by_role("dialog", name="Cancel this job?")
    await expect(dialog).to_be_visible()
    for _ in range(6):
        await press(page, "Tab")
        assert await dialog.evaluate("box => box.contains(document.activeElement)"), "the focus left the dialog"
    await press(page, "Escape")
    await expect(dialog).to_have_count(0)
    await expect(cancel).to_be_focused()
    assert (await place.app.get(job.id)).state == "running"


async def test_a_menu_is_opened_walked_and_left_by_keys(ann: Visitor, place: Place, tenant: str):
    job = await place.running(tenant)
    page = await ann.open(f"/jobs/{job.id}")
    more = page.get_by_role("button", name="More actions")
    await more.focus()
    await press(page, "Enter")
    await expect(page.get_by_role("menuitem").first).to_be_focused()
    await press(page, "End")
    await expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
    await press(page, "Escape")
    await expect(more).to_be_focused()


@pytest.mark.parametrize("path", ["/", "/jobs", "/inbox", "/settings/profile"])
async def test_tab_passes_through_the_page_with_a_focus_that_can_be_seen(ann: Visitor, place: Place, tenant: str, path: str):
    await place.done("mend", {"name": "old", "height": 1}, tenant)
    page = await ann.open(path)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await ann.settled()
    await press(page, "Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    await press(page, "Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    unseen = set()
    for _ in range(25):
        await press(page, "Tab")
        if await page.evaluate("document.activeElement === document.body"):
            break
        unseen.add(await page.evaluate(FOCUS_IS_VISIBLE))
    assert unseen == {""}
