"""What is planned and what is capped: schedules, queues and lanes, made, changed and taken away on the page."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_schedule_is_made_changed_held_and_deleted_where_the_codes_own_stay(root: Visitor):
    root.expects("422")
    page = await root.open("/schedules")
    coded = page.get_by_role("row").filter(has_text="from code").first
    await expect(coded).to_be_visible()
    await expect(coded.get_by_role("button", name="Delete")).to_have_count(0)
    await page.get_by_role("button", name="New schedule").click()
    dialog = page.get_by_role("dialog", name="New schedule")
    await dialog.get_by_role("textbox", name="Name").first.fill("made-in-a-browser")
    await dialog.get_by_role("textbox", name="When, as cron").fill("often")
    await dialog.get_by_role("combobox", name="Operation").select_option(index=0)
    await dialog.get_by_role("button", name="Plan it").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("five fields")
    await dialog.get_by_role("textbox", name="When, as cron").fill("0 4 * * 1")
    await dialog.get_by_role("button", name="Plan it").click()
    row = page.get_by_role("row").filter(has_text="made-in-a-browser")
    await expect(row).to_contain_text("made here")
    await row.get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog", name="Change made-in-a-browser")
    await expect(dialog.get_by_role("textbox", name="When, as cron")).to_have_value("0 4 * * 1")
    await dialog.get_by_role("textbox", name="When, as cron").fill("30 6 * * *")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("30 6 * * *")
    await row.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await row.get_by_role("button", name="Resume").click()
    await expect(row).not_to_contain_text("paused")
    await row.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    await expect(row).to_have_count(0)


async def test_caps_of_a_queue_and_of_a_lane_are_set_changed_and_lifted(root: Visitor, place: Place, tenant: str):
    job = await place.running(tenant)
    page = await root.open("/queues/canal")
    facts = page.get_by_role("main").locator("dl")
    for most, told in (("3", "running, at most 3"), ("2", "running, at most 2"), ("", "running")):
        await page.get_by_role("button", name="Cap…").click()
        dialog = page.get_by_role("dialog", name="Cap of the queue")
        await dialog.get_by_role("spinbutton", name="At most").fill(most)
        await dialog.get_by_role("button", name="Save").click()
        await expect(facts.get_by_text(told, exact=True)).to_be_visible()
    await page.get_by_role("button", name="Set a lane").click()
    dialog = page.get_by_role("dialog", name="Set a lane")
    await dialog.get_by_role("textbox", name="Lane").fill(tenant)
    await dialog.get_by_role("spinbutton", name="Weight").fill("2")
    await dialog.get_by_role("combobox", name="Cap").select_option("slots")
    await dialog.get_by_role("spinbutton", name="At most").fill("5")
    await dialog.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text=tenant)
    await expect(row).to_contain_text("5 running")
    await row.get_by_role("button", name=f"Weight and cap of {tenant}").click()
    dialog = page.get_by_role("dialog", name=f"Lane {tenant}")
    await expect(dialog.get_by_role("spinbutton", name="Weight")).to_have_value("2")
    await dialog.get_by_role("combobox", name="Cap").select_option("none")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row).not_to_contain_text(re.compile("5 running"))
    await place.app.cancel(job.id)
