"""Whatever people and payloads put into a text stays a text: no element, no script, no dialog, no template."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from playwright.async_api import expect

from tests.browser.hostile import expect_harmless, hostile
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def owner() -> str:
    return fresh("tenant")


@pytest.fixture
def tenant(owner: str) -> str:
    """In this file the tenant's own name is such a text."""
    return hostile(owner)


def parts(*extra: str) -> dict[str, Any]:
    return {name: hostile(name) for name in ("event", "message", "field", "value", "step", "model", "result", *extra)}


async def test_in_a_job_that_succeeded(root: Visitor, place: Place, tenant: str, owner: str):
    job = await place.done("perform", parts(), tenant, key=hostile("key"))
    page = await root.open(f"/jobs/{job.id}")
    await expect(page.get_by_role("tabpanel", name="Result")).to_contain_text("result")
    await expect_harmless(page, "event", "message", "step", "result", "key", owner)
    await page.get_by_role("button", name=hostile("event")).click()
    await expect_harmless(page, "value")
    await page.get_by_role("tab", name="Payload").click()
    await expect_harmless(page, "model")
    await root.open("/")
    await expect_harmless(page, "model", "barge")
    await root.open("/jobs")
    await expect_harmless(page, "key", owner)


async def test_in_a_job_that_failed_and_in_the_inbox(root: Visitor, place: Place, tenant: str):
    job = await place.done("perform", parts("error", "remedy"), tenant)
    page = await root.open(f"/jobs/{job.id}")
    await expect_harmless(page, "error", "remedy")
    for path in ("/", "/jobs?state=failed"):
        await root.open(path)
        await expect_harmless(page, "error")
    await root.open("/inbox")
    cause = page.get_by_role("listitem").filter(has_text="perform").get_by_role("link")
    await expect(cause).to_contain_text("<script>alert")
    await expect_harmless(page, "error", "remedy")
    await cause.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("<script>alert")
    await expect_harmless(page, "error", "remedy")


async def test_in_queues_lanes_budgets_workers_and_schedules(root: Visitor, place: Place, tenant: str, owner: str):
    job = await place.make("perform", parts("limit", "budget"), tenant)
    await place.becomes(job, "queued")
    page = await root.open("/workers")
    await expect_harmless(page, "barge")
    await root.open("/schedules")
    await expect_harmless(page, "planner")
    planner = page.get_by_role("row").filter(has_text="planner")
    await planner.get_by_role("button", name="Run now").click()
    await page.get_by_role("tab", name="Payload").click()
    await expect_harmless(page, "scheduled")
    await place.running(tenant)
    await root.open("/queues/canal")
    await expect_harmless(page, owner)
    await root.open("/")
    await expect_harmless(page, "budget", "limit")


async def test_in_the_form_of_a_new_job_and_in_what_it_says_when_refused(root: Visitor, place: Place):
    page = await root.open("/jobs")
    await page.get_by_role("main").get_by_role("button", name="New job").first.click()
    dialog = page.get_by_role("dialog", name="New job")
    await dialog.get_by_role("combobox", name="Operation").select_option("described")
    await expect_harmless(page, "docstring", "title", "description")
    await dialog.get_by_role("combobox", name="Operation").select_option("haul")
    await dialog.get_by_role("textbox", name="Miles").fill(hostile("miles"))
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect_harmless(page, "“miles")


async def test_in_names_of_tokens_users_webhooks_and_in_the_audit_log(root: Visitor, place: Place, owner: str):
    user, address = fresh("user"), f"http://127.0.0.1:9/{hostile('hook')}"
    page = await root.open("/settings/tokens")
    await page.get_by_role("button", name="New token").click()
    await page.get_by_role("textbox", name="What it is for").fill(hostile("token"))
    await page.get_by_role("button", name="Make it").click()
    await expect_harmless(page, "token", "The token token")
    await page.get_by_role("row").filter(has_text=hostile("token")).get_by_role("button", name="Revoke").click()
    await expect(page.get_by_role("dialog")).to_contain_text(hostile("token"))
    await page.get_by_role("button", name="Revoke it").click()
    await expect_harmless(page, "token")
    await root.open("/settings/webhooks")
    await page.get_by_role("button", name="New webhook").click()
    await page.get_by_role("textbox", name="Address").fill(address)
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_text(address)).to_be_visible()
    await root.open("/settings/users")
    await page.get_by_role("button", name="New user").click()
    await page.get_by_role("textbox", name="Name").fill(hostile(user))
    await page.get_by_role("textbox", name="Tenants").fill(hostile("people"))
    await page.get_by_role("button", name="Create").click()
    await expect_harmless(page, user, "people", f"The link for {user}")
    await root.open("/settings/prices")
    await page.get_by_role("button", name="Add a model").click()
    await page.get_by_role("textbox", name="Model").fill(hostile("model"))
    for spin in await page.get_by_role("spinbutton").all():
        await spin.fill("1")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").get_by_text("The prices are saved")).to_be_visible()
    await root.open("/settings/audit")
    await expect_harmless(page, owner)


async def test_in_the_address_bar_and_in_the_palette(ann: Visitor, place: Place):
    ann.expects("status of 404", "status of 422")
    attack = hostile("address")
    query = urlencode({"text": attack, "operation": attack, "queue": attack, "parent": attack, "after": attack})
    page = await ann.open(f"/jobs?{query}")
    await expect(page.get_by_role("searchbox", name="Search")).to_have_value(attack)
    await expect_harmless(page)
    for path in (f"/jobs/{quote(attack, safe='')}", f"/queues/{quote(attack, safe='')}"):
        await ann.open(path)
        await expect_harmless(page, "address")
    await ann.open(f"/inbox/group?{urlencode({'operation': 'mend', 'kind': attack, 'message': attack})}")
    await expect_harmless(page, "address")
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Find or do").fill(hostile("typed"))
    await expect_harmless(page, "Search jobs for “typed")
    await ann.open(f"/login?problem={quote(attack)}&next={quote(attack)}")
    await expect_harmless(page)
