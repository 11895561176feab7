"""What a screen reader is told of a page, and what in it would leave somebody guessing."""

from itertools import pairwise
from typing import Any

from playwright.async_api import Page

from tests.browser.axe import serious

Node = tuple[str, str, dict[str, Any]]
"""Its role, its name, and what else is known of it."""

_NAMED = {
    "button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "spinbutton",
    "tab", "tablist", "menu", "menuitem", "option", "image", "img", "progressbar", "dialog", "alertdialog", "log",
    "radiogroup", "heading",
}  # fmt: skip

_IN_THE_DOCUMENT = """() => {
  const found = [];
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) found.push(`two elements have the id ${id}`);
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant"])
    for (const element of document.querySelectorAll(`[${name}]`))
      for (const id of element.getAttribute(name).split(/\\s+/).filter(Boolean))
        if (!document.getElementById(id)) found.push(`${name} of ${element.outerHTML.slice(0, 120)} refers to nothing`);
  const hidden = "[aria-hidden=true] :is(a[href], button, input, select, textarea, [tabindex='0'])";
  for (const element of document.querySelectorAll(hidden))
    if (element.checkVisibility() && element.tabIndex >= 0)
      found.push(`hidden, and still reached by Tab: ${element.outerHTML.slice(0, 120)}`);
  if (document.querySelector("[tabindex]:not([tabindex='0'], [tabindex='-1'])")) found.push("an order of its own for Tab");
  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title.includes("Towpath")) found.push(`the title does not say where one is: ${document.title}`);
  return found;
}"""


async def findings(page: Page) -> list[str]:
    """Of a whole page. Nothing, if all is well."""
    nodes = await _tree(page)
    own = [*_landmarks(nodes), *_headings(nodes), *_names(nodes), *await page.evaluate(_IN_THE_DOCUMENT)]
    return [*own, *await serious(page)]


async def nameless(page: Page) -> list[str]:
    """Of whatever is open over the page, which is hidden meanwhile."""
    return _names(await _tree(page))


async def _tree(page: Page) -> list[Node]:
    session = await page.context.new_cdp_session(page)
    tree = (await session.send("Accessibility.getFullAXTree"))["nodes"]
    await session.detach()
    return [(_text(node, "role"), _text(node, "name"), node) for node in tree if not node.get("ignored")]


def _text(node: dict[str, Any], what: str) -> str:
    return str(node.get(what, {}).get("value", ""))


def _landmarks(nodes: list[Node]) -> list[str]:
    found = []
    if (mains := sum(role == "main" for role, _, _ in nodes)) != 1:
        found.append(f"{mains} main landmarks")
    for kind in ("navigation", "complementary"):
        names = [name for role, name, _ in nodes if role == kind]
        if len(names) > 1 and len(set(names)) != len(names):
            found.append(f"landmarks that cannot be told apart: {kind} {names}")
    return found


def _headings(nodes: list[Node]) -> list[str]:
    levels = [_level(node) for role, _, node in nodes if role == "heading"]
    found = [] if levels.count(1) == 1 else [f"{levels.count(1)} headings of level 1"]
    for before, after in pairwise(levels):
        if after > before + 1:
            found.append(f"a heading of level {after} follows one of level {before}")
    return found


def _level(node: dict[str, Any]) -> int:
    return int(next(item["value"]["value"] for item in node["properties"] if item["name"] == "level"))


def _names(nodes: list[Node]) -> list[str]:
    nameless = [(role, node) for role, name, node in nodes if role in _NAMED and not name.strip()]
    return [f"a {role} without a name (node {node['backendDOMNodeId']})" for role, node in nameless]
