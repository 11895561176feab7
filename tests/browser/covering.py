"""Whether what stands over a page keeps somebody from what is below it."""

from playwright.async_api import Page

_CONTROLS = ":is(a[href], button, input, select, textarea)"
_IS_COVERED = """(one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
  for (let box = one.parentElement; box; box = box.parentElement) {
    const { top, bottom } = box.getBoundingClientRect();
    // What is scrolled out of a box of its own is brought back by scrolling that.
    if (getComputedStyle(box).overflowY === "auto" && (y < top || y > bottom)) return false;
  }
  return Boolean(document.querySelector(".dock")?.contains(document.elementFromPoint(x, y)));
}"""
_LOOK = f"""([controls, focuses]) => {{
  const covers = {_IS_COVERED};
  const covered = [];
  for (const one of document.querySelectorAll(controls)) {{
    if (!one.checkVisibility() || one.disabled) continue;
    if (focuses) one.focus();
    if (focuses && document.activeElement !== one) continue;
    if (covers(one)) covered.push(one.outerHTML.slice(0, 100));
  }}
  return covered;
}}"""


async def covered(page: Page, within: str = "main") -> list[str]:
    """The controls of the page in the window that a click would not reach, for the dock is over them."""
    return await _looked(page, within, focuses=False)


async def covered_when_focused(page: Page, within: str = "main") -> list[str]:
    """The same of each control when it has the focus, which scrolls it into view as somebody would."""
    return await _looked(page, within, focuses=True)


async def _looked(page: Page, within: str, *, focuses: bool) -> list[str]:
    found: list[str] = await page.evaluate(_LOOK, [f"{within} {_CONTROLS}", focuses])
    return found
