"""Schedules: those of the code are told from those that people make, and only the latter are deleted."""

import pytest
from playwright.async_api import expect

from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_schedule_is_made_held_and_deleted_where_the_codes_own_stay(root: Visitor):
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
    await row.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    await expect(row).to_have_count(0)
