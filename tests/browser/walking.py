"""Every page of the app with something on it, for what has to hold on all of them."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlencode

from playwright.async_api import Page, expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

_GO = """(path) => {
  history.pushState({}, "", path);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


_WEB = Path(__file__).parents[2] / "web" / "src"

BEFORE_THE_APP = {
    "/login": "Log in",
    "/reset?token=x": "Choose a password",
    "/shared/nothing": "This link opens nothing any more",
}
"""The heading of each page that needs no session, by its path."""


async def every_page(place: Place, tenant: str) -> Mapping[str, str]:
    """The heading each page has when it is there, by its path."""
    failed = await place.done("mend", {"name": "old", "height": 1}, tenant, key="a bridge of some age")
    said = await place.done("say", {"words": ["hello", "goodbye"], "long": "x" * 300}, tenant)
    running = await place.running(tenant)
    group = urlencode({"operation": "mend", "kind": "fatal", "message": failed.error["message"] if failed.error else ""})
    return {
        "/": "under way",
        "/recordings": "Recordings",
        "/recordings/00000000-0000-7000-8000-000000000000": "There is no such recording",
        "/documents": "Documents",
        "/documents?view=documents": "Documents",
        "/documents/new": "New run",
        "/documents/new?from=bucket": "New run",
        "/documents/runs/00000000-0000-7000-8000-000000000000": "There is no such run",
        "/documents/items/00000000-0000-7000-8000-000000000000": "There is no such document of a run",
        "/documents/00000000-0000-7000-8000-000000000000": "There is no such document",
        "/search": "Search",
        "/search?q=canal": "Search",
        "/search?mode=names": "Search",
        "/search?mode=ask": "Search",
        "/batches": "Batches",
        "/fleet": "Fleet",
        "/batches/new": "New batch",
        "/batches/00000000-0000-7000-8000-000000000000": "There is no such batch",
        "/jobs": "Jobs",
        "/jobs?state=waiting": "Jobs",
        f"/jobs/{failed.id}": "mend",
        f"/jobs/{said.id}": "say",
        f"/jobs/{running.id}": "haul",
        "/jobs/00000000-0000-7000-8000-000000000000": "There is no such job",
        "/inbox": "Inbox",
        f"/inbox/group?{group}": "no boat gets under this bridge",
        "/queues": "Queues",
        "/queues/canal": "canal",
        "/queues/nowhere": "There is no such queue",
        "/workers": "Workers",
        "/schedules": "Schedules",
        "/settings/profile": "Settings",
        "/settings/tokens": "Settings",
        "/settings/models": "Settings",
        "/settings/templates": "Settings",
        "/settings/webhooks": "Settings",
        "/settings/users": "Settings",
        "/settings/prices": "Settings",
        "/settings/limits": "Settings",
        "/settings/audit": "Settings",
        "/nowhere": "There is no page at this address",
    }


def forgotten(paths: Iterable[str]) -> set[str]:
    """Routes of the app and sections of the settings that none of these paths leads to."""
    routes = re.findall(r'path: "([^"]+)"', (_WEB / "router.ts").read_text(encoding="utf-8"))
    sections = re.findall(r'name: "([^"]+)", title:', (_WEB / "pages" / "SettingsPage.vue").read_text(encoding="utf-8"))
    assert routes
    assert sections
    plain = {path.partition("?")[0] for path in paths}
    reached = {route for path in plain if (route := _route_of(path, routes))}
    return {*routes, *(f"/settings/{name}" for name in sections)} - reached - plain


def _route_of(path: str, routes: Iterable[str]) -> str | None:
    """The plainest one that fits, as the router has it."""
    fitting = [route for route in routes if re.fullmatch(_pattern(route), path)]
    return min(fitting, key=lambda route: (route.count("*"), route.count(":")), default=None)


def _pattern(route: str) -> str:
    """`:rest(.*)*` stands for anything, `/:name?` for one part or none, and `:name` for one part."""
    rules = ((r":\w+\(\.\*\)\*", ".*"), (r"/:\w+\?", "(/[^/]+)?"), (r":\w+", "[^/]+"))
    for form, meaning in rules:
        route = re.sub(form, lambda _, meaning=meaning: meaning, route)
    return route


async def walk_to(visitor: Visitor, path: str, heading: str) -> Page:
    """Goes to a page, from another one as a link would, and waits until everything it asked for is here."""
    visitor.expects("status of 404")  # some of the pages look for something in vain
    page = visitor.page
    if page.url.startswith(visitor.address):
        await page.evaluate(_GO, path)
    else:
        await visitor.open(path)
    await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
    await expect(page.get_by_text("Live", exact=True)).to_be_attached()
    await visitor.settled()
    return page
