"""A job moves on the page as it moves in the engine, and nothing is loaded again to see it."""

import pytest
from playwright.async_api import expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_running_job_moves_on_its_page_until_it_ends(ann: Visitor, place: Place, tenant: str):
    job = await place.running(tenant, miles=4)
    page = await ann.open(f"/jobs/{job.id}")
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    await page.evaluate("window.sameDocument = true")
    place.works.go(job.id)
    await expect(page.get_by_role("progressbar").first).to_have_attribute("aria-valuenow", "25")
    place.works.go(job.id)
    await expect(page.get_by_role("progressbar").first).to_have_attribute("aria-valuenow", "50")
    place.works.go(job.id, 2)
    await expect(page.get_by_text("mile 4 is behind us")).to_be_visible()
    await expect(page.locator("h1 + p, header p").get_by_text("Succeeded")).to_be_visible()
    assert await page.evaluate("window.sameDocument")
