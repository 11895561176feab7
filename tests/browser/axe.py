"""What axe-core finds on a page. It is run as it stands in the UI's own lock, by the test and not by the page, whose policy
would not let it in."""

from functools import cache
from typing import Any

from playwright.async_api import Page

from tests.services.missing import lacking
from towpath.server.spa import UI

_SCRIPT = UI.parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async (rules) => {
  const only = rules ? { runOnly: { type: "rule", values: rules } } : {};
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...only });
  return violations.map(({ id, impact, help, nodes }) =>
    ({ id, impact, help, where: nodes.map((node) => node.html.slice(0, 160)) }));
}"""
_GRAVE = {"serious", "critical"}

OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules whose answer changes with the theme."""


@cache
def _script() -> str:
    if not _SCRIPT.is_file():
        lacking("axe-core", "make web")
    return _SCRIPT.read_text()


async def serious(page: Page, *rules: str) -> list[str]:
    """Of a whole page, by all rules or by these. Nothing, if all is well."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_script())
    found: list[dict[str, Any]] = await page.evaluate(_RUN, list(rules) or None)
    return [f"{one['id']}: {one['help']} at {one['where'][:3]}" for one in found if one["impact"] in _GRAVE]
