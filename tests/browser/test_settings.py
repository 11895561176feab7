"""Settings: tokens, webhooks and users, each used for real once it is made."""

import asyncio
import re

import httpx
import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor
from tests.engine.working import eventually
from tests.server.api.receiving import receiving

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSWORD = "seven herons in the reeds"


def secret_on(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("status").locator("code")


async def test_a_token_is_shown_once_works_until_it_is_revoked_and_is_never_shown_again(ann: Visitor, place: Place):
    page = await ann.open("/settings/tokens")
    await page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog", name="New token")
    await dialog.get_by_role("textbox", name="What it is for").fill("nightly import")
    await dialog.get_by_role("checkbox", name="write").check()
    await dialog.get_by_role("button", name="Make it").click()
    secret = await secret_on(page).inner_text()
    assert re.fullmatch(r"tow_\S{30,}", secret)
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(base_url=place.address, headers=headers) as program:
        assert (await program.get("/api/jobs")).status_code == 200
        await page.reload()
        row = page.get_by_role("row").filter(has_text="nightly import")
        await expect(row).to_contain_text("read, write")
        await expect(row).to_contain_text(secret[:8])
        assert secret not in await page.content()
        await row.get_by_role("button", name="Revoke").click()
        await page.get_by_role("dialog", name="Revoke nightly import?").get_by_role("button", name="Revoke it").click()
        await expect(page.get_by_text("There are none yet.")).to_be_visible()
        assert (await program.get("/api/jobs")).status_code == 401


async def test_a_webhook_is_made_tested_told_of_an_ending_and_replayed(ann: Visitor, place: Place, tenant: str):
    with receiving() as receiver:
        page = await ann.open("/settings/webhooks")
        await page.get_by_role("button", name="New webhook").click()
        dialog = page.get_by_role("dialog", name="New webhook")
        await dialog.get_by_role("textbox", name="Address").fill(receiver.url)
        await dialog.get_by_role("button", name="Save").click()
        await expect(secret_on(page)).to_have_text(re.compile(r"\S{20,}"))
        hook = page.get_by_role("listitem").filter(has_text=receiver.url)
        await hook.get_by_role("button", name="Actions").click()
        await page.get_by_role("menuitem", name="Send a test").click()
        await eventually(lambda: receiver.types == ["ping"])
        delivery = hook.get_by_role("row").filter(has_text="ping")
        await expect(delivery).to_contain_text("Succeeded")
        await expect(delivery).to_contain_text("200")
        job = await place.done("say", "hello", tenant)
        about = hook.get_by_role("row").filter(has_text="job.succeeded")
        await expect(about).to_contain_text(job.id[-8:])
        await expect(about).to_contain_text("Succeeded")
        await about.get_by_role("button", name="Replay").click()
        await eventually(lambda: receiver.types == ["ping", "job.succeeded", "job.succeeded"])
        assert [message.content["job"]["id"] for message in receiver.messages[1:]] == [job.id, job.id]
        await expect(hook.get_by_role("row").filter(has_text="job.succeeded")).to_have_count(2)
        await page.reload()
        await expect(hook).to_be_visible()
        await expect(secret_on(page)).to_have_count(0)
        await hook.get_by_role("button", name="Actions").click()
        await page.get_by_role("menuitem", name="Delete").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
        await expect(page.get_by_text("There are none yet.")).to_be_visible()


async def test_a_webhook_that_cannot_be_is_refused_at_its_field(ann: Visitor, place: Place):
    page = await ann.open("/settings/webhooks")
    await page.get_by_role("button", name="New webhook").click()
    dialog = page.get_by_role("dialog", name="New webhook")
    address = dialog.get_by_role("textbox", name="Address")
    await address.fill("ftp://127.0.0.1/hook")
    ann.expects("status of 422")
    await dialog.get_by_role("button", name="Save").click()
    await expect(address).to_have_accessible_description(re.compile("http"))
    await expect(address).to_have_attribute("aria-invalid", "true")


async def test_a_user_is_made_and_chooses_a_password_by_the_link(root: Visitor, visit: Visit, place: Place):
    name, tenant = fresh("carol"), fresh("tenant")
    page = await root.open("/settings/users")
    await page.get_by_role("button", name="New user").click()
    dialog = page.get_by_role("dialog", name="New user")
    await dialog.get_by_role("textbox", name="Name").fill(name)
    await dialog.get_by_role("textbox", name="Tenants").fill(tenant)
    await dialog.get_by_role("button", name="Create").click()
    link = await secret_on(page).inner_text()
    assert link.startswith(f"{place.address}/reset?token=")
    row = page.get_by_role("row").filter(has_text=name)
    await expect(row).to_contain_text("not set")

    carol = await visit()
    await carol.page.goto(link)
    await carol.page.get_by_label("New password").fill("short")
    await carol.page.get_by_label("Once more").fill("other")
    await expect(carol.page.get_by_role("alert")).to_have_text("The two are not the same.")
    for label in ("New password", "Once more"):
        await carol.page.get_by_label(label).fill(PASSWORD)
    await carol.page.get_by_role("button", name="Save and log in").click()
    await expect(carol.page.get_by_role("button", name=name)).to_contain_text(tenant)
    await carol.open("/settings/users")
    await expect(carol.page.get_by_role("navigation", name="Settings").get_by_role("link", name="Users")).to_have_count(0)
    await expect(carol.page.get_by_role("heading", name="Appearance")).to_be_visible()

    again = await visit()
    again.expects("status of 401")
    await again.page.goto(link)
    for label in ("New password", "Once more"):
        await again.page.get_by_label(label).fill("eight herons in the reeds")
    await again.page.get_by_role("button", name="Save and log in").click()
    await expect(again.page.get_by_role("alert")).to_contain_text("this link does not hold any more")
    await again.open("/login")
    await again.page.get_by_label("Name").fill(name)
    await again.page.get_by_label("Password").fill(PASSWORD)
    await again.page.get_by_role("button", name="Log in").click()
    await expect(again.page.get_by_role("button", name=name)).to_be_visible()

    await page.reload()
    await expect(row).not_to_contain_text("not set")
    assert link not in await page.content()
    await row.get_by_role("button", name=f"Actions for {name}").click()
    await page.get_by_role("menuitem", name="Disable").click()
    await expect(row).to_contain_text("disabled")
    await again.open("/jobs")
    await expect(again.page.get_by_role("heading", level=1, name="Log in")).to_be_visible()


async def test_prices_are_kept_and_changed_and_what_was_done_is_in_the_audit_log(root: Visitor, place: Place):
    model = fresh("model")
    page = await root.open("/settings/prices")
    await page.get_by_role("button", name="Add a model").click()
    row = page.get_by_role("row").last
    await row.get_by_role("textbox", name="Model").fill(model)
    await row.get_by_role("spinbutton", name="Dollars per million input tokens").fill("3")
    await row.get_by_role("spinbutton", name="Dollars per million output tokens").fill("15")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").get_by_text("The prices are saved")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("textbox", name="Model")).to_have_value(model)
    asked = row.get_by_role("spinbutton", name="Dollars per million input tokens")
    await asked.fill("4")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").get_by_text("The prices are saved")).to_be_visible()
    await page.reload()
    await expect(asked).to_have_value("4")
    await root.open("/settings/audit")
    await expect(page.get_by_role("row").filter(has_text="prices").first).to_be_visible()


async def test_a_limit_is_set_raised_and_taken_away(root: Visitor):
    named = fresh("tenant")
    page = await root.open("/settings/limits")
    await page.get_by_role("button", name="New limit").click()
    await page.get_by_label("Tenant").fill(named)
    await page.get_by_label("Dollars").fill("1.5")
    await page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text=named)
    await expect(row).to_contain_text("$1.50 a month")
    await root.open(f"/settings/limits?tenant={named}")
    await page.get_by_label("Dollars").fill("20")
    await page.get_by_label("Period").select_option("altogether")
    await page.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("$20.00 altogether")
    await row.get_by_role("button", name="Actions").click()
    await page.get_by_role("menuitem", name="Remove…").click()
    await page.get_by_role("button", name="Remove it").click()
    await expect(row).to_have_count(0)


async def test_prices_that_are_being_written_are_not_lost_when_the_page_catches_up(root: Visitor, place: Place):
    page, written = root.page, asyncio.Event()

    async def hold(route: Route) -> None:
        await written.wait()
        await route.continue_()

    await page.route("**/api/events*", hold)
    await root.open("/settings/prices")
    await page.get_by_role("button", name="Add a model").click()
    model = page.get_by_role("row").last.get_by_role("textbox", name="Model")
    await model.fill("half-written")
    async with page.expect_response("**/api/settings/prices"):
        written.set()
    await root.settled()
    await expect(model).to_have_value("half-written")
