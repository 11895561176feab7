"""A job made by hand, from the form that the operation's own types describe."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.place import Place
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def form(visitor: Visitor, operation: str) -> tuple[Page, Locator]:
    page = await visitor.open("/jobs")
    await page.get_by_role("main").get_by_role("button", name="New job").first.click()
    dialog = page.get_by_role("dialog", name="New job")
    await dialog.get_by_role("combobox", name="Operation").select_option(operation)
    return page, dialog


async def test_what_the_server_refuses_is_told_at_its_field_and_can_be_put_right(ann: Visitor, place: Place, tenant: str):
    page, dialog = await form(ann, "mend")
    await expect(dialog.get_by_role("combobox", name="Operation")).to_have_accessible_description(
        "Mends a bridge that is high enough."
    )
    name, height = dialog.get_by_role("textbox", name="Name"), dialog.get_by_role("textbox", name="Height")
    await name.fill("x")
    await height.fill("12")
    ann.expects("status of 422")
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect(name).to_have_accessible_description(re.compile("at least 2 characters"))
    await expect(height).to_have_accessible_description(re.compile("less than or equal to 10"))
    for field in (name, height):
        await expect(field).to_have_attribute("aria-invalid", "true")
    assert await place.app.list(tenant=tenant) == []
    await name.fill("the old one")
    await height.fill("4")
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect(page.get_by_role("heading", level=1, name="mend")).to_be_visible()
    await expect(page.get_by_role("main").locator("header")).to_contain_text("Succeeded")
    await expect(page.get_by_role("status").get_by_text("mend is queued")).to_be_visible()


async def test_what_cannot_be_a_number_is_told_without_asking_the_server(ann: Visitor, place: Place, tenant: str):
    _, dialog = await form(ann, "haul")
    miles = dialog.get_by_role("textbox", name="Miles")
    await expect(miles).to_have_value("4")
    await miles.fill("many")
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect(miles).to_have_accessible_description(re.compile("“many” is not a number"))
    assert await place.app.list(tenant=tenant) == []


async def test_it_can_be_written_as_json_with_a_key_a_priority_and_a_delay(ann: Visitor, place: Place, tenant: str):
    page, dialog = await form(ann, "say")
    await dialog.get_by_role("textbox", name="Payload as JSON").fill('{"words": ["good", "evening"]}')
    await dialog.get_by_text("When and how").click()
    await dialog.get_by_role("textbox", name="Key").fill("evening greeting")
    await dialog.get_by_role("textbox", name="Start in").fill("30")
    await dialog.get_by_role("combobox", name="Priority").select_option("2 · Low")
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect(page.get_by_role("complementary", name="Facts")).to_contain_text("evening greeting")
    await expect(page.get_by_role("region", name="Where it stands")).to_contain_text("Until")
    [job] = await place.app.list(tenant=tenant)
    assert (job.key, job.priority, job.state) == ("evening greeting", 2, "queued")
    assert await place.app.payload(job.id) == {"words": ["good", "evening"]}


async def test_an_operation_without_a_payload_asks_for_none(ann: Visitor, place: Place, tenant: str):
    page, dialog = await form(ann, "whistle")
    await expect(dialog.get_by_text("This operation takes no payload.")).to_be_visible()
    await expect(dialog.get_by_role("textbox", name="Payload as JSON")).to_have_count(0)
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect(page.get_by_role("main").locator("header")).to_contain_text("Succeeded")


async def test_an_empty_field_that_is_needed_is_told_without_asking_the_server(ann: Visitor, place: Place, tenant: str):
    _, dialog = await form(ann, "mend")
    await dialog.get_by_role("textbox", name="Height").fill("4")
    await dialog.get_by_role("button", name="Enqueue").click()
    await expect(dialog.get_by_role("textbox", name="Name")).to_have_accessible_description("This is needed.")
    assert await place.app.list(tenant=tenant) == []
