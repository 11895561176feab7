"""The fleet with a real browser: who is there, what is under way, how it goes, and tables for spreadsheets."""

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, ViewportSize, expect
from pytest_asyncio import fixture

from tests.browser.accessible import findings
from tests.browser.axe import OF_COLOURS, serious
from tests.browser.conftest import Visit
from tests.browser.contrast import too_faint
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor
from tests.products.fleet.operations import SHOUT
from tests.products.fleet.yard import Hand
from towpath import assets

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORMULA = "=HYPERLINK(0)"
BROKEN = {"kind": "network", "category": "fatal", "message": FORMULA}


@fixture(loop_scope="session")
async def hand(root: Visitor, place: Place) -> AsyncIterator[Hand]:
    """A remote worker, over real HTTP, that the test moves."""
    made = await posted(root, "/api/fleet/workers", {"name": fresh("barge")})
    hand = Hand(made["id"], made["token"], httpx.AsyncHTTPTransport())
    hand.client.base_url = httpx.URL(place.address)
    yield hand
    await hand.client.aclose()


async def posted(visitor: Visitor, path: str, body: dict) -> dict:
    headers = {"Origin": visitor.address}
    answer = await visitor.context.request.post(f"{visitor.address}{path}", data=body, headers=headers)
    assert answer.ok, await answer.text()
    return await answer.json()


async def made(root: Visitor, place: Place, tenant: str, name: str, **more: object) -> str:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a quiet barge"

    asset = await assets.receive(place.app, tenant, name, pieces(), kinds=None, created_by=None)
    return (await posted(root, "/api/fleet/tasks", {"asset_id": asset.id, "operation": SHOUT} | more))["id"]


def region(page: Page, name: str):
    return page.get_by_role("region", name=name)


async def test_without_a_fleet_the_page_says_how_to_begin(ann: Visitor):
    page = await ann.open("/fleet")
    await expect(page.get_by_role("heading", name="No fleet yet")).to_be_visible()
    await ann.settled()
    assert await findings(page) == []


async def test_it_shows_who_works_on_what_how_it_ends_and_what_each_came_to(
    root: Visitor, place: Place, tenant: str, hand: Hand
):
    """Everything moves by itself, while the page is open."""
    page = await root.open("/fleet")
    good = await made(root, place, tenant, "good.wav")
    await expect(region(page, "Tasks")).to_contain_text("good.wav")
    task = await hand.claimed(SHOUT)
    assert task.task == good
    await hand.say(task, "IN-PROGRESS", progress=1, total=2)
    flight = page.get_by_role("list", name="Tasks in flight").get_by_role("listitem").filter(has_text="good.wav")
    await expect(flight).to_contain_text("50 %")
    await expect(region(page, "Workers").get_by_role("row").filter(has_text="over HTTPS").first).to_be_visible()
    await hand.say(task, "COMPLETED", output=await hand.put(task, b"A QUIET BARGE"))
    await expect(region(page, "Tasks").get_by_role("row").filter(has_text="good.wav")).to_contain_text("Completed")
    await made(root, place, tenant, "bad.wav", max_attempts=1)
    task = await hand.claimed(SHOUT)
    await hand.say(task, "FAILED", failure=BROKEN)
    await expect(region(page, "Tasks").get_by_role("row").filter(has_text="bad.wav")).to_contain_text("Failed")
    await expect(region(page, "Tasks")).to_contain_text(FORMULA)
    await page.reload()
    await expect(region(page, "Causes of failure")).to_contain_text(FORMULA)
    await expect(region(page, "Efficiency").get_by_role("row").last).to_contain_text("50 %")
    await page.get_by_role("radiogroup", name="Window of the report").get_by_text("7 days").click()
    await expect(region(page, "How it goes")).to_contain_text("per day")


async def test_tables_are_saved_and_run_nothing_in_a_spreadsheet(
    root: Visitor, place: Place, tenant: str, hand: Hand, tmp_path: Path
):
    await made(root, place, tenant, "=1+1.wav", max_attempts=1)
    task = await hand.claimed(SHOUT)
    await hand.say(task, "FAILED", failure=BROKEN)
    page = await root.open("/fleet")
    await expect(region(page, "Causes of failure")).to_contain_text(FORMULA)
    for title, column in (("All tasks", "failure_reason"), ("Causes of failure", "reason")):
        await page.get_by_role("button", name="Save as CSV").click()
        async with page.expect_download() as waiting:
            await page.get_by_role("menuitem", name=title).click()
        saved = tmp_path / "saved.csv"
        await (await waiting.value).save_as(saved)
        rows = list(csv.DictReader(io.StringIO(saved.read_text("utf-8-sig"))))
        assert any(row[column].endswith(FORMULA) for row in rows)
        assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values() if cell)


@pytest.mark.parametrize("width", [1440, 390])
async def test_it_can_be_read_by_day_and_by_night_on_a_desk_and_on_a_phone(
    visit: Visit, place: Place, tenant: str, root: Visitor, hand: Hand, width: int, tmp_path: Path
):
    for name in ("first.wav", "second.wav"):
        await made(root, place, tenant, name, max_attempts=1)
    await hand.say(await hand.claimed(SHOUT), "IN-PROGRESS", progress=1, total=4)
    visitor = await visit(viewport=ViewportSize(width=width, height=900))
    await visitor.enter(await place.person(fresh("root"), tenant, admin=True))
    page = await visitor.open("/fleet")
    await expect(page.get_by_role("list", name="Tasks in flight")).to_contain_text("first.wav")
    await expect(region(page, "How it goes")).to_contain_text("Attempts that ended")
    await visitor.settled()
    assert [*await findings(page), *await too_faint(page)] == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.emulate_media(color_scheme="dark")
    assert [*await serious(page, *OF_COLOURS), *await too_faint(page)] == []
