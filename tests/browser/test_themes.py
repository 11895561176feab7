"""Light and dark: as the system says, or as one chooses, and the choice stays."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.place import Place, fresh

pytestmark = pytest.mark.asyncio(loop_scope="session")

BRIGHTNESS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data.slice(0, 3).reduce((sum, part) => sum + part, 0) / 765;
  };
  const style = (element, name) => read(getComputedStyle(element)[name]);
  return [style(document.querySelector("main"), "backgroundColor"), style(document.querySelector("h1"), "color")];
}"""


async def looks(page: Page) -> str:
    ground, ink = await page.evaluate(BRIGHTNESS)
    return "light" if ground > 0.9 and ink < 0.2 else "dark" if ground < 0.2 and ink > 0.8 else f"{ground}, {ink}"


@pytest.mark.parametrize("system", ["light", "dark"])
async def test_a_chosen_theme_wins_over_the_system_and_is_there_from_the_first_paint(
    visit: Visit, place: Place, tenant: str, system: str
):
    visitor, name = await visit(color_scheme=system), fresh("ann")
    await visitor.enter(await place.person(name, tenant))
    page = await visitor.open("/")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert await looks(page) == system
    other = "Dark" if system == "light" else "Light"
    await page.get_by_role("button", name=name).click()
    await page.get_by_role("menuitem", name=other, exact=True).click()
    await expect(page.locator("html")).to_have_attribute("data-theme", other.lower())
    assert await looks(page) == other.lower()
    await page.reload(wait_until="commit")
    await expect(page.locator("html")).to_have_attribute("data-theme", other.lower())
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert await looks(page) == other.lower()
    await visitor.open("/settings/profile")
    await expect(page.get_by_role("radio", name=other, exact=True)).to_be_checked()
    await page.get_by_text("As the system").click()
    await expect(page.locator("html[data-theme]")).to_have_count(0)
    assert await looks(page) == system
