"""Batches with a real browser: they appear and move by themselves, and each has a page."""

from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import Page, expect
from pytest_asyncio import fixture

from tests.browser.accessible import findings
from tests.browser.contrast import too_faint
from tests.browser.place import Place
from tests.browser.visitors import Visitor
from tests.models.sounds import write_wav
from tests.products.batches.desk import EchoProvider, request
from towpath.batches import intake

pytestmark = pytest.mark.asyncio(loop_scope="session")


@fixture(scope="module", loop_scope="session", autouse=True)
async def provider(place: Place) -> EchoProvider:
    made = EchoProvider()
    place.app.provider(made.name, lambda: made)
    return made


async def make(place: Place, tenant: str, title: str) -> str:
    asked = [request("first"), request("second", fail=True), {"custom_id": "third"}]
    wanted = intake.Wanted("SCRIPTED", ["m1"], title, lines=intake.as_lines(asked))
    batch_id, _ = await intake.create(place.app, wanted, intake.Owner(tenant))
    return batch_id


async def readable(page: Page) -> list[str]:
    return [*await findings(page), *await too_faint(page)]


async def test_a_batch_appears_in_the_list_and_ends_there_without_anybody_asking_again(
    ann: Visitor, place: Place, tenant: str
):
    """The list is never asked for by the clock: without the stream it would stay empty."""
    page = await ann.open("/batches")
    await expect(page.get_by_role("heading", name="No batches yet")).to_be_visible()
    await expect(page.get_by_text("Live", exact=True)).to_be_attached()
    await make(place, tenant, "Two questions")
    row = page.get_by_role("list", name="Batches").get_by_role("listitem").filter(has_text="Two questions")
    await expect(row).to_contain_text("Partly completed", timeout=60_000)
    await expect(row).to_contain_text("1 ok, 1 failed, 1 invalid")


async def test_its_page_has_the_orders_what_could_not_be_asked_and_the_answers(ann: Visitor, place: Place, tenant: str):
    page = await ann.open(f"/batches/{await make(place, tenant, 'Three questions')}")
    orders = page.get_by_role("region", name="Provider jobs")
    await expect(orders).to_contain_text("SCRIPTED, shard 1", timeout=60_000)
    results = page.get_by_role("region", name="Results")
    await expect(results).to_contain_text("it did not work", ignore_case=True, timeout=60_000)
    await expect(page.get_by_role("region", name="Invalid inputs")).to_contain_text("it has no body", ignore_case=True)
    await ann.settled()
    assert await readable(page) == []
    await page.get_by_role("button", name="Retry what failed").click()
    await expect(page.get_by_text("Retry of")).to_be_visible()


async def test_a_batch_is_written_in_the_browser(ann: Visitor):
    page = await ann.open("/batches/new")
    await page.get_by_label("Provider").select_option("SCRIPTED")
    await page.get_by_text("Written here").click()
    lines = page.get_by_label("JSON lines")
    await lines.fill("no request")
    await expect(page.get_by_text("Line 1 is no request")).to_be_visible()
    await lines.fill('{"custom_id": "1", "body": {"say": "hello"}}')
    await page.get_by_role("button", name="Submit the batch").click()
    await expect(page.get_by_role("alert")).to_contain_text("Name the models")
    await page.get_by_role("textbox", name="Models").fill("m1")
    await expect(page.get_by_text("There is no price for m1")).to_be_visible()
    await page.get_by_role("button", name="Submit the batch").click()
    await expect(page.get_by_role("region", name="Results")).to_contain_text("hello", timeout=60_000)


async def test_files_are_transcribed_from_the_browser(ann: Visitor, tmp_path: Path):
    talk, notes = tmp_path / "talk.wav", tmp_path / "notes.txt"
    write_wav(talk, np.zeros(16_000, dtype=np.float32))
    notes.write_text("no sound", "utf-8")
    page = await ann.open("/batches/new?task=transcription")
    await page.get_by_role("button", name="Submit the batch").click()
    await expect(page.get_by_role("alert")).to_contain_text("Choose files")
    await page.get_by_label("Audio or video").set_input_files([talk, notes])
    await expect(page.get_by_text("2 files")).to_be_visible()
    await expect(page.get_by_text(", uploaded")).to_be_visible(timeout=60_000)
    await page.get_by_label("Addresses").fill("ftp://talks/monday.mp3")
    await expect(page.get_by_role("alert")).to_contain_text("Line 1 is no address")
    await page.get_by_label("Addresses").fill("https://talks.example/monday.pdf")
    await ann.settled()
    assert await readable(page) == []
    await page.get_by_role("button", name="Submit the batch").click()
    results = page.get_by_role("region", name="Results")
    await expect(results).to_contain_text("talk.wav", timeout=60_000)
    await expect(page.get_by_role("region", name="Invalid inputs")).to_contain_text("notes.txt")
    await expect(page.get_by_role("region", name="Invalid inputs")).to_contain_text("https://talks.example/monday.pdf")
