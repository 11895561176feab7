"""Getting about a page with the keyboard alone."""

from playwright.async_api import Locator, Page, expect

_MOST = 150
"""Stops of Tab, in one direction, until what is looked for is taken for out of reach."""


async def reach(page: Page, wanted: Locator) -> None:
    """Goes there by Tab."""
    await expect(wanted).to_be_visible()
    for _ in range(_MOST):
        if await wanted.evaluate("one => one === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {wanted}")


async def press(page: Page, wanted: Locator) -> None:
    await reach(page, wanted)
    await page.keyboard.press("Enter")


async def choose(page: Page, opener: Locator, entry: str) -> None:
    """Opens a menu, and walks to the entry that begins with this."""
    await press(page, opener)
    item = page.get_by_role("menuitem", name=entry)
    await expect(page.get_by_role("menuitem").first).to_be_focused()
    for _ in range(await page.get_by_role("menuitem").count()):
        if await item.evaluate("one => one === document.activeElement"):
            return await page.keyboard.press("Enter")
        await page.keyboard.press("ArrowDown")
    raise AssertionError(f"the arrows do not lead to {entry}")
