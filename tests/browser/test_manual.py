"""The API's page: found from the settings, readable by day and by night, on a desk and on a phone."""

import pytest
from playwright.async_api import expect

from tests.browser.accessible import findings
from tests.browser.conftest import Visit
from tests.browser.contrast import too_faint
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 380, "height": 760}


async def test_the_settings_lead_to_it(ann: Visitor):
    page = await ann.open("/settings/tokens")
    await page.get_by_role("link", name="What the API can do").click()
    await expect(page.get_by_role("heading", level=1, name="HTTP API")).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk by day", "phone by night"])
async def test_it_can_be_read(visit: Visit, size: dict[str, int], scheme: str):
    visitor = await visit(viewport=size, color_scheme=scheme)
    page = await visitor.open("/docs")
    job = page.locator("details#create_job")
    await job.locator("summary").click()
    await expect(job.get_by_text("Takes NewJob")).to_be_visible()
    assert [*await findings(page), *await too_faint(page)] == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    await job.get_by_role("link", name="NewJob").click()
    await expect(page.get_by_role("heading", name="NewJob")).to_be_in_viewport()
