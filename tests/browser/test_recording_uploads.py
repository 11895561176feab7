"""Files become recordings: dropped, staged, sent, interrupted in every way, listed and shown in the popup."""

import asyncio
import io
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import expect
from pytest_asyncio import fixture

from tests.browser.conftest import Visit
from tests.browser.hostile import expect_harmless, hostile
from tests.browser.place import Place, fresh
from tests.browser.recordings import BROKEN, Desk, quiet, said
from tests.engine.working import eventually
from tests.products.recordings.ear import Ear
from towpath.recordings import hearing

pytestmark = pytest.mark.asyncio(loop_scope="session")

OpenDesk = Callable[..., Awaitable[Desk]]
SLOW = 150_000
"""Bytes per second at which a file of megabytes is under way for longer than a test looks at it."""


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    ear = Ear()
    monkeypatch.setattr(hearing, "_hear_window", ear.hear)
    return ear


@fixture(loop_scope="session")
async def sit_down(visit: Visit, place: Place, tenant: str) -> OpenDesk:
    """Opens the page in a browser of its own for a new person of the test's tenant, or by a link for a known one."""

    async def sit(link: str | None = None) -> Desk:
        visitor = await visit(accept_downloads=True)
        await visitor.enter(link or await place.person(fresh("speaker"), tenant))
        desk = Desk(visitor)
        await desk.open()
        return desk

    return sit


@fixture(loop_scope="session")
async def desk(sit_down: OpenDesk) -> Desk:
    return await sit_down()


async def test_an_upload_waits_for_the_network_and_goes_on_by_itself(desk: Desk):
    desk.visitor.expects("ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED")
    await desk.slow_down(SLOW)
    await desk.upload({"long.wav": quiet(60, "wav")})
    await expect(desk.staged("long")).to_contain_text("of 1.8 M")
    await desk.page.context.set_offline(True)
    await expect(desk.staged("long")).to_contain_text("waits for the network")
    await expect(desk.docked("long")).to_contain_text("waits for the network")
    await desk.slow_down(None)
    await desk.page.context.set_offline(False)
    await expect(desk.staging).to_have_count(0)
    await expect(desk.listed("long")).to_contain_text("Done")
    await desk.expect_dock("done", "long")


async def test_what_the_server_refuses_survives_a_reload_and_is_changed_or_removed(desk: Desk):
    desk.visitor.expects("status of 422")
    await desk.drop({"klingon.mp3": said(), "diary.mp3": b"Dear diary, today I recorded nothing.\n" * 50})
    await desk.staged("klingon").get_by_role("button", name="Options").click()
    await desk.staged("klingon").get_by_label("Language").fill("tlh")
    await desk.staging.get_by_role("button", name="Upload 2 files").click()
    await expect(desk.staged("klingon")).to_contain_text("tlh")
    await expect(desk.staged("diary")).to_contain_text("is text")
    await desk.expect_dock("failed", "klingon", "diary")

    await desk.page.reload()
    await desk.expect_dock("failed", "klingon", "diary")
    await expect(desk.docked("diary")).to_contain_text("is text")
    await desk.docked("diary").get_by_role("button", name="Retry").click()
    await expect(desk.docked("diary")).to_contain_text("is text")
    await desk.docked("diary").get_by_role("button", name="Delete").click()
    await desk.expect_dock("failed", "klingon")
    await desk.staged("klingon").get_by_role("button", name="Options").click()
    await desk.staged("klingon").get_by_label("Language").fill("en")
    await desk.staged("klingon").get_by_role("button", name="Retry").click()
    await expect(desk.listed("klingon")).to_contain_text("Done")
    await desk.page.reload()
    await desk.expect_list("klingon")
    await desk.expect_counts(active=0, done=1, failed=0)
    await expect(desk.staging).to_have_count(0)


async def test_staged_files_survive_a_reload_with_what_was_said_about_them(desk: Desk):
    await desk.drop({"one.mp3": quiet(), "two.mp3": quiet(2)})
    await desk.staged("one").get_by_role("button", name="Options").click()
    fields = desk.staged("one")
    await fields.get_by_label("Title").fill("The first")
    await fields.get_by_label("Language").fill("en")
    await fields.get_by_label("Summary").select_option("None")
    await fields.get_by_label("Priority").select_option("Low")
    await expect(desk.staged("The first")).to_contain_text("en, no summary, low")

    await desk.page.reload()
    await expect(desk.staging.get_by_role("heading")).to_contain_text("2 files ready")
    await expect(desk.staged("The first")).to_contain_text("en, no summary, low")
    await expect(desk.staged("two")).to_be_visible()
    assert await desk.recordings() == {}
    await desk.staged("The first").get_by_role("button", name="Upload The first").click()
    await expect(desk.listed("The first")).to_contain_text("Done")
    await expect(desk.staging.get_by_role("heading")).to_contain_text("1 file ready")
    await desk.staged("two").get_by_role("button", name="Remove two").click()
    await expect(desk.staging).to_have_count(0)
    found = (await desk.recordings())["The first"]
    assert (found["file_name"], found["language"], found["auto_summary"]) == ("one.mp3", "en", False)
