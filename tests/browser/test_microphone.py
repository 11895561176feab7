"""Recording with the microphone, in a real Chromium whose microphone plays a file: what is said is kept as it comes."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect
from pytest_asyncio import fixture

from tests.browser.accessible import findings
from tests.browser.contrast import too_faint
from tests.browser.microphone import Sit, made_of_it, nothing_left, recorded, recorder, seconds_kept, sitting
from tests.browser.place import Place
from tests.engine.working import eventually
from tests.products.recordings.media import encoded, speech

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"width": 390, "height": 844}
AWAY = ("Failed to load resource", "ERR_")


@fixture(loop_scope="session")
async def sit(place: Place, tenant: str, tmp_path: Path) -> AsyncIterator[Sit]:
    async with sitting(place, tenant, tmp_path, encoded(speech("beckett"), "wav")) as sit:
        yield sit


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["laptop", "phone"])
async def test_what_is_said_becomes_a_transcript_wherever_one_goes_meanwhile(sit: Sit, viewport: dict | None):
    visitor = await sit(**({"viewport": viewport, "has_touch": True} if viewport else {}))
    page = visitor.page
    await recorded(page, 2)
    assert [*await findings(page), *await too_faint(page)] == []
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await recorder(page).get_by_role("textbox", name="Title").fill("Said aloud")
    await recorder(page).get_by_role("button", name="Pause").click()
    await expect(recorder(page)).to_contain_text("Paused")
    await recorder(page).get_by_role("button", name="Go on").click()
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="Towpath").first.click()
    await expect(page).to_have_url(f"{visitor.address}/")
    await expect(recorder(page)).to_contain_text("Recording")

    async def enough() -> bool:
        return await seconds_kept(page) >= 5

    await eventually(enough, within=30)
    await recorder(page).get_by_role("button", name="Stop and send").click()
    await expect(recorder(page)).to_have_count(0)
    one = await made_of_it(visitor)
    assert one["title"] == "Said aloud"
    assert one["duration"] > 4
    assert one["has_transcript"]
    await nothing_left(page)


@pytest.mark.parametrize("how", ["the tab is closed", "the battery is empty"])
async def test_at_most_a_second_is_lost_when(sit: Sit, tmp_path: Path, how: str):
    visitor = await sit()
    page, context = visitor.page, visitor.context
    await recorded(page, 3)
    kept = await seconds_kept(page)
    visitor.expects(*AWAY)
    if how == "the tab is closed":
        page = await context.new_page()
        await visitor.page.close()
        visitor.page = page
        await page.goto(f"{visitor.address}/recordings")
    else:
        pull_the_plug(tmp_path / "disk")
        visitor = await sit()
        page = visitor.page
    await expect(page.get_by_text("A recording that was cut off is being sent")).to_be_visible()
    one = await made_of_it(visitor)
    assert one["duration"] >= kept - 1
    await nothing_left(page)


async def test_what_is_discarded_is_gone_and_a_refusal_says_what_to_do(sit: Sit):
    visitor = await sit()
    page = visitor.page
    await recorded(page, 1)
    await recorder(page).get_by_role("button", name="Discard").click()
    await page.get_by_role("dialog").get_by_role("button", name="Discard it").click()
    await expect(recorder(page)).to_have_count(0)
    await nothing_left(page)
    refused = "() => Promise.reject(new DOMException('no', 'NotAllowedError'))"
    await page.evaluate(f"() => {{ navigator.mediaDevices.getUserMedia = {refused}; }}")
    await page.get_by_role("button", name="Record", exact=True).click()
    await expect(page.get_by_text("Allow it beside the address")).to_be_visible()
    answer = await visitor.context.request.get(f"{visitor.address}/api/recordings")
    assert (await answer.json())["items"] == []


def pull_the_plug(disk: Path) -> None:
    """Kills the browser that has this disk, as it stands."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"--user-data-dir={disk}".encode() in words and not any(word.startswith(b"--type=") for word in words):
            os.kill(int(folder.name), signal.SIGKILL)
            return
    raise AssertionError("no browser has this disk")
