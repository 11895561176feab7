"""A job moves on the page as it moves in the engine, and nothing is loaded again to see it."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def live(visitor: Visitor, path: str) -> Page:
    """The page once it listens; that it is never loaded again is checked by `same`."""
    page = await visitor.open(path)
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    await page.evaluate("window.loadedOnce = true")
    return page


async def same(page: Page) -> bool:
    return bool(await page.evaluate("window.loadedOnce"))


def state(page: Page) -> Locator:
    return page.get_by_role("main").locator("header")


async def test_a_running_job_moves_on_its_page_until_it_ends(ann: Visitor, place: Place, tenant: str):
    job = await place.running(tenant, miles=4)
    page = await live(ann, f"/jobs/{job.id}")
    progress = page.get_by_role("progressbar", name="Progress")
    place.works.go(job.id)
    await expect(progress).to_have_attribute("aria-valuetext", "25 %, 1 of 4")
    place.works.go(job.id)
    await expect(progress).to_have_attribute("aria-valuetext", "50 %, 2 of 4")
    await expect(state(page)).to_contain_text("Running")
    place.works.go(job.id, 2)
    await expect(page.get_by_role("log")).to_contain_text("mile 4 is behind us")
    await expect(state(page)).to_contain_text("Succeeded")
    await expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    await page.get_by_role("tab", name="Result").click()
    await expect(page.get_by_role("tabpanel", name="Result")).to_contain_text("arrived")
    assert await same(page)


async def test_a_running_job_can_be_cancelled_from_its_page(ann: Visitor, place: Place, tenant: str):
    job = await place.running(tenant)
    page = await live(ann, f"/jobs/{job.id}")
    await page.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog", name="Cancel this job?")
    await dialog.get_by_role("button", name="Keep as it is").click()
    await expect(dialog).to_have_count(0)
    assert (await place.app.get(job.id)).state == "running"
    await page.get_by_role("button", name="Cancel").click()
    await dialog.get_by_role("button", name="Cancel it").click()
    await expect(state(page)).to_contain_text("Cancelled")
    await expect(page.get_by_role("status").get_by_text("1 job cancelled")).to_be_visible()
    await place.becomes(job, "cancelled")
    await page.get_by_role("button", name="Retry").click()
    await expect(state(page)).to_contain_text("Running")
    place.works.go(job.id, 4)
    await expect(state(page)).to_contain_text("Succeeded")
    assert await same(page)


async def test_the_table_shows_jobs_as_they_come_move_and_end(ann: Visitor, place: Place, tenant: str):
    page = await live(ann, "/jobs")
    await expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    job = await place.running(tenant, miles=2)
    row = page.get_by_role("row").filter(has_text=job.id[-8:])
    await expect(row).to_contain_text("Running")
    place.works.go(job.id)
    await expect(row).to_contain_text("50 %")
    place.works.go(job.id)
    await expect(row).to_contain_text("Succeeded")
    await place.app.delete(job.id)
    await expect(row).to_have_count(0)
    assert await same(page)


async def test_home_counts_what_runs_and_what_failed(ann: Visitor, place: Place, tenant: str):
    page = await live(ann, "/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("All is quiet")
    job = await place.running(tenant, miles=1)
    await expect(page.get_by_role("heading", level=1)).to_have_text("1 job under way")
    await expect(page.get_by_role("list", name="Running jobs").get_by_role("link")).to_contain_text("haul")
    await place.done("mend", {"name": "old", "height": 1}, tenant)
    await expect(page.get_by_role("list", name="Failed jobs")).to_contain_text("no boat gets under")
    place.works.go(job.id)
    await expect(page.get_by_role("heading", level=1)).to_have_text("All is quiet now")
    await expect(page.get_by_text("Nothing runs at the moment.")).to_be_visible()
    assert await same(page)


async def test_a_job_that_is_deleted_elsewhere_says_so_on_its_page(ann: Visitor, place: Place, tenant: str):
    job = await place.done("say", "hello", tenant)
    page = await live(ann, f"/jobs/{job.id}")
    await expect(state(page)).to_contain_text("Succeeded")
    ann.expects("status of 404")  # what the page was just asking for about it
    await place.app.delete(job.id)
    await expect(page.get_by_role("heading", name="This job was deleted")).to_be_visible()
    assert await same(page)


async def test_the_log_can_be_narrowed_to_warnings_and_tells_a_failure_once(ann: Visitor, place: Place, tenant: str):
    job = await place.done("mend", {"name": "old", "height": 1}, tenant)
    page = await live(ann, f"/jobs/{job.id}")
    log = page.get_by_role("log", name="Events")
    await expect(log).to_contain_text("Created")
    await page.get_by_role("radiogroup", name="Level").get_by_text("Errors").click()
    await expect(log).not_to_contain_text("Created")
    assert (await log.inner_text()).count("no boat gets under this bridge") == 1
