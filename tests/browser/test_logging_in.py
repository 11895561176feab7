"""The ways into the app and out of it, as somebody at a browser meets them."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.place import Place, fresh

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "four swans on the water"
REFUSED = ("status of 401",)


async def log_in(page: Page, name: str, password: str) -> None:
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Log in").click()


async def test_a_link_opens_straight_into_the_app_and_works_once(visit: Visit, place: Place, tenant: str):
    link = await place.person(fresh("ann"), tenant)
    first, second = await visit(), await visit()
    await first.page.goto(link)
    await expect(first.page.get_by_role("heading", level=1, name="All is quiet")).to_be_visible()
    await expect(first.page).to_have_url(f"{place.address}/")
    second.expects(*REFUSED)
    await second.page.goto(link)
    await expect(second.page.get_by_role("alert")).to_contain_text("this link does not hold any more")
    await expect(second.page).to_have_url(f"{place.address}/login")
    await expect(second.page.get_by_role("navigation", name="Main")).to_have_count(0)


async def test_a_password_leads_to_the_page_that_was_asked_for_and_logging_out_closes_it(
    visit: Visit, place: Place, tenant: str
):
    name = fresh("ann")
    await place.person(name, tenant, password=PASSWORD)
    visitor = await visit()
    visitor.expects(*REFUSED)
    page = await visitor.open("/jobs?state=failed")
    await log_in(page, name, PASSWORD)
    await expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    await expect(page).to_have_url(f"{place.address}/jobs?state=failed")
    await page.get_by_role("button", name=name).click()
    await page.get_by_role("menuitem", name="Log out").click()
    await expect(page.get_by_role("heading", level=1, name="Log in")).to_be_visible()
    await visitor.open("/queues")
    await expect(page.get_by_role("heading", level=1, name="Log in")).to_be_visible()
    # What it is known by is left, and opens nothing.
    assert [cookie["name"] for cookie in await visitor.context.cookies()] == ["towpath_device"]


async def test_a_wrong_password_is_refused_without_saying_what_was_wrong(visit: Visit, place: Place, tenant: str):
    name = fresh("ann")
    await place.person(name, tenant, password=PASSWORD)
    visitor = await visit()
    visitor.expects(*REFUSED)
    page = await visitor.open("/login")
    for given in (name, fresh("nobody")):
        await log_in(page, given, "five swans on the water")
        await expect(page.get_by_role("alert")).to_contain_text("the name or the password is wrong")
        await expect(page.get_by_label("Password")).to_have_value("")
    await log_in(page, name, PASSWORD)
    await expect(page.get_by_role("navigation", name="Main")).to_be_visible()


async def test_too_many_attempts_are_told_how_long_to_wait(visit: Visit, place: Place, tenant: str):
    name = fresh("ann")
    await place.person(name, tenant, password=PASSWORD)
    visitor = await visit()
    visitor.expects(*REFUSED, "status of 429")
    page = await visitor.open("/login")
    too_many = page.get_by_role("alert").get_by_text("there were too many attempts")
    for _ in range(12):  # each failure doubles the wait, so that even a slow hand runs into it
        async with page.expect_response(lambda response: response.request.method == "POST"):
            await log_in(page, name, "six swans on the water")
        await expect(page.get_by_role("alert")).to_be_visible()
        if await too_many.count():
            break
    await expect(too_many).to_have_text(re.compile(r"possible in \d+ s"))
    await expect(page.get_by_role("navigation", name="Main")).to_have_count(0)


async def test_a_log_in_leads_only_to_addresses_of_the_app(visit: Visit, place: Place, tenant: str):
    visitor = await visit()
    for target in ("//127.0.0.2/", "javascript:alert(1)", "/\\127.0.0.2/"):
        link = await place.person(fresh("ann"), tenant)
        await visitor.page.goto(f"{link}&next={target}")
        await expect(visitor.page.get_by_role("navigation", name="Main")).to_be_visible()
        await expect(visitor.page).to_have_url(f"{place.address}/")
