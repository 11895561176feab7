"""What has to hold on every page, by day and by night, on a desk and on a phone."""

import asyncio

import pytest
from playwright.async_api import Route, ViewportSize, expect

from tests.browser.accessible import findings, nameless
from tests.browser.axe import OF_COLOURS, serious
from tests.browser.conftest import Visit
from tests.browser.contrast import too_faint
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor
from tests.browser.walking import BEFORE_THE_APP, every_page, forgotten, walk_to
from tests.engine.working import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")

DESK = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)


PLANTED = """<!doctype html><html><head><title>nowhere</title></head><body style="background: white">
<div role="main"><h1>One</h1><h3>Skipped</h3><h1>Two</h1><p style="color: #999">faint</p><p style="color: #767676">enough</p>
<p style="color: #000; opacity: 0.4">see-through</p><button><svg viewBox="0 0 1 1"></svg></button><input>
<div aria-hidden="true"><a href="/">hidden</a></div><ul><p>no item</p></ul>
<i id="twice"></i><i id="twice" aria-describedby="nothing"></i></div>"""


async def test_the_checks_of_these_tests_find_what_is_planted(visit: Visit):
    visitor = await visit()
    await visitor.page.set_content(PLANTED)
    told = " ".join(await findings(visitor.page))
    for fault in (
        "2 headings of level 1", "level 3 follows one of level 1", "button without a name", "textbox without a name",
        "hidden, and still reached", "the id twice", "refers to nothing", "no language", "does not say where one is",
        "list: <ul> and <ol>", "color-contrast",
    ):  # fmt: skip
        assert fault in told, told
    faint = " ".join(await too_faint(visitor.page))
    assert "faint" in faint
    assert "see-through" in faint
    assert "enough" not in faint


async def test_whatever_a_page_complains_about_is_noticed(visit: Visit):
    visitor = await visit()
    page = await visitor.open("/login")
    await page.evaluate("""() => {
      document.body.append(Object.assign(document.createElement("script"), { textContent: "window.planted = true" }));
      console.error("planted message");
      setTimeout(() => { throw new Error("planted mistake"); });
      setTimeout(() => alert("planted dialog"));
    }""")
    told = ("content security policy: script-src", "planted message", "planted mistake", "planted dialog")
    await eventually(lambda: all(any(part in complaint for complaint in visitor.complaints) for part in told))
    assert await page.evaluate("window.planted") is None
    visitor.expects(*told, "Content Security Policy")


async def test_no_page_is_forgotten_by_these_tests(place: Place, tenant: str):
    assert forgotten(["/queues/x", "/settings/profile"]) >= {"/queues", "/login", "/:rest(.*)*", "/settings/tokens"}
    assert forgotten([*await every_page(place, tenant), *BEFORE_THE_APP]) == set()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
async def test_every_page_tells_a_screen_reader_where_one_is_fits_and_can_be_read_by_day_and_by_night(
    visit: Visit, place: Place, tenant: str, viewport: ViewportSize
):
    visitor = await visit(viewport=viewport)
    await visitor.enter(await place.person(fresh("root"), tenant, admin=True))
    found: dict[str, list[str]] = {}
    for path, heading in (await every_page(place, tenant)).items():
        page = await walk_to(visitor, path, heading)
        width = await page.evaluate("document.documentElement.scrollWidth")
        found[path] = [*await findings(page), *([f"{width} px wide"] if width > viewport["width"] else [])]
        found[path] += await too_faint(page)
        await page.emulate_media(color_scheme="dark")
        found[path] += [*await serious(page, *OF_COLOURS), *await too_faint(page)]
        await page.emulate_media(color_scheme="light")
    assert not any(found.values()), {path: list_ for path, list_ in found.items() if list_}


async def test_on_a_phone_every_page_is_two_taps_away(visit: Visit, place: Place, tenant: str):
    visitor = await visit(viewport=PHONE, has_touch=True)
    await visitor.enter(await place.person(fresh("ann"), tenant))
    page = await visitor.open("/")
    menu, navigation = page.get_by_role("button", name="Menu"), page.get_by_role("navigation", name="Main")
    await expect(navigation).not_to_be_visible()
    for name in ("Jobs", "Inbox", "Queues", "Workers", "Schedules", "Settings"):
        await menu.tap()
        await expect(menu).to_have_attribute("aria-expanded", "true")
        await navigation.get_by_role("link", name=name).tap()
        await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        await expect(navigation).not_to_be_visible()


async def test_on_a_phone_the_menu_closes_also_for_who_is_faster_than_the_first_page(
    visit: Visit, place: Place, tenant: str
):
    visitor = await visit(viewport=PHONE, has_touch=True)
    await visitor.enter(await place.person(fresh("ann"), tenant))
    page, arrived = visitor.page, asyncio.Event()

    async def hold(route: Route) -> None:
        await arrived.wait()
        await route.continue_()

    await page.route("**/assets/HomePage-*.js", hold)
    await page.goto(place.address, wait_until="commit")
    await page.get_by_role("button", name="Menu").tap()
    await page.get_by_role("navigation", name="Main").get_by_role("link", name="Jobs").tap()
    await expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    await expect(page.get_by_role("navigation", name="Main")).not_to_be_visible()
    arrived.set()


async def test_on_a_phone_dialogs_and_the_palette_fit(visit: Visit, place: Place, tenant: str):
    visitor = await visit(viewport=PHONE)
    await visitor.enter(await place.person(fresh("ann"), tenant))
    page = await visitor.open("/jobs")
    await page.get_by_role("button", name="New job").first.click()
    for dialog in (page.get_by_role("dialog", name="New job"), page.get_by_role("dialog", name="Find or do something")):
        await expect(dialog).to_be_visible()
        box = await dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        await page.keyboard.press("Escape")
        await page.keyboard.press("Control+k")


async def test_what_opens_over_a_page_has_names_for_everything_in_it(root: Visitor, place: Place, tenant: str):
    job = await place.running(tenant)
    page = await walk_to(root, f"/jobs/{job.id}", "haul")
    for opener, role in {"New job": "dialog", "Find or do": "dialog", "More actions": "menu", "Cancel": "dialog"}.items():
        await page.get_by_role("button", name=opener).first.click()
        await expect(page.get_by_role(role)).to_be_visible()
        await root.settled()
        assert [*await nameless(page), *await serious(page), *await too_faint(page)] == []
        await page.keyboard.press("Escape")
        await expect(page.get_by_role(role)).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_pages_before_the_app_are_told_read_and_fit_as_well(visit: Visit, place: Place, scheme: str):
    visitor = await visit(viewport=PHONE, color_scheme=scheme)
    visitor.expects("status of 404")
    for path, heading in BEFORE_THE_APP.items():
        page = await visitor.open(path)
        await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        await visitor.settled()
        assert [*await findings(page), *await too_faint(page)] == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
