"""The table of jobs: what is ticked, what is asked for, and where that is kept."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_ticked_jobs_are_cancelled_together_and_the_others_go_on(ann: Visitor, place: Place, tenant: str):
    jobs = [await place.make("haul", {"miles": 1}, tenant) for _ in range(4)]
    page = await ann.open("/jobs")
    for job in jobs[:3]:
        await page.get_by_role("checkbox", name=f"Tick haul {job.id[-8:]}").check()
    bar = page.get_by_role("region", name="Ticked jobs")
    await expect(bar).to_contain_text("3 jobs ticked")
    await bar.get_by_role("button", name="Cancel").click()
    await page.get_by_role("dialog", name="Cancel 3 jobs?").get_by_role("button", name="Cancel them").click()
    await expect(page.get_by_role("status").get_by_text("3 jobs cancelled")).to_be_visible()
    for job in jobs[:3]:
        await expect(page.get_by_role("row").filter(has_text=job.id[-8:])).to_contain_text("Cancelled")
    await expect(bar).to_have_count(0)
    place.works.go(jobs[3].id)
    await expect(page.get_by_role("row").filter(has_text=jobs[3].id[-8:])).to_contain_text("Succeeded")


async def test_everything_that_matches_is_deleted_after_a_question(ann: Visitor, place: Place, tenant: str):
    kept = await place.done("say", "stay", tenant)
    for number in range(3):
        await place.done("mend", {"name": f"bridge {number}", "height": 1}, tenant)
    page = await ann.open("/jobs?state=failed")
    await expect(page.get_by_role("row")).to_have_count(4)
    await page.get_by_role("checkbox", name="Tick all loaded jobs").check()
    await page.get_by_role("region", name="Ticked jobs").get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog", name="Delete 3 jobs?").get_by_role("button", name="Delete them").click()
    await expect(page.get_by_role("heading", name="No job matches this filter")).to_be_visible()
    await page.get_by_role("button", name="Show all jobs").click()
    await expect(page.get_by_role("row").filter(has_text=kept.id[-8:])).to_be_visible()
    await expect(page.get_by_role("row")).to_have_count(2)


async def test_filters_live_in_the_address_and_survive_reload_and_back(ann: Visitor, place: Place, tenant: str):
    said = await place.done("say", "hello", tenant, key="greeting of the day")
    await place.done("mend", {"name": "old", "height": 1}, tenant)
    await place.done("mend", {"name": "new", "height": 5}, tenant)
    page = await ann.open("/jobs")
    rows = page.get_by_role("row").filter(has=page.get_by_role("cell"))
    await expect(rows).to_have_count(3)
    await page.get_by_role("combobox", name="Operation").select_option("mend")
    await page.get_by_role("group", name="State").get_by_role("button", name="Failed").click()
    await expect(page).to_have_url(re.compile(r"/jobs\?state=failed&operation=mend$"))
    await expect(rows).to_have_count(1)
    await page.reload()
    await expect(rows).to_have_count(1)
    await expect(page.get_by_role("button", name="Failed")).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("combobox", name="Operation")).to_have_value("mend")
    await rows.get_by_role("link", name="mend").click()
    await expect(page.get_by_role("region", name="Error")).to_be_visible()
    await page.go_back()
    await expect(page).to_have_url(re.compile(r"/jobs\?state=failed&operation=mend$"))
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Clear").click()
    await expect(rows).to_have_count(3)
    await page.get_by_role("searchbox", name="Search").fill("greeting")
    await expect(page).to_have_url(re.compile(r"/jobs\?text=greeting$"))
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text(said.id[-8:])


async def test_a_row_that_leaves_the_filter_goes_and_one_that_enters_it_comes(ann: Visitor, place: Place, tenant: str):
    job = await place.running(tenant, miles=1)
    page = await ann.open("/jobs?state=running")
    row = page.get_by_role("row").filter(has_text=job.id[-8:])
    await expect(row).to_contain_text("Running")
    other = await place.running(tenant, miles=1)
    await expect(page.get_by_role("row").filter(has_text=other.id[-8:])).to_contain_text("Running")
    place.works.go(job.id)
    await expect(row).to_have_count(0)
    await expect(page.get_by_role("row").filter(has_text=other.id[-8:])).to_be_visible()
