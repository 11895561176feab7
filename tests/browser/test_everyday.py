"""A recording from the first word to the link for others, as somebody goes who has only the page: by mouse, and by keys."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.async_api import Browser, Locator, Page, expect
from pytest_asyncio import fixture

from tests.browser import keys
from tests.browser.conftest import Visit
from tests.browser.microphone import recorded, recorder, sitting
from tests.browser.place import Place, fresh, opened_place
from tests.engine.working import eventually
from tests.models.sounds import decode, speak
from tests.models.wire_server import WireServer
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, of_floats, silence

pytestmark = pytest.mark.asyncio(loop_scope="session")

TENANT = "everyday"
SAID = (
    "She asked three questions and nobody in the room had a good answer.",
    "The river carries wood, sand, and sometimes a boat without a captain.",
    "After lunch the manager explained why the project will be late.",
    "The new bridge will be open to cars in the spring.",
)
VOICES = ("en-us+m3", "en-us+f2")


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Two people in turns, with hardly a pause between them."""
    folder, parts = tmp_path_factory.mktemp("talk"), []
    for number, text in enumerate(SAID):
        spoken = of_floats(decode(speak(text, folder / f"{number}.wav", voice=VOICES[number % 2])))
        loud = np.flatnonzero(np.abs(spoken) > 600)
        parts += [spoken[loud[0] : loud[-1]], silence(0.2)]
    return np.concatenate(parts)


@fixture(scope="module", loop_scope="session")
async def place(browser: Browser, wire: WireServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with opened_place(tmp_path_factory.mktemp("place"), chat_url=wire.url, chat_model="m") as place:
        yield place


@fixture(scope="module", loop_scope="session")
async def client(place: Place) -> AsyncIterator[httpx.AsyncClient]:
    async with place.client(TENANT) as client:
        yield client


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    return Ear.instead(monkeypatch)


async def sent(client: httpx.AsyncClient, samples: np.ndarray, title: str, **fields: str) -> str:
    fields = {"title": title, "auto_summary": "false"} | fields
    answer = await client.post("/upload", files={"file": (f"{title}.wav", encoded(samples, "wav"))}, data=fields)
    return str(answer.json()["id"])


async def made(client: httpx.AsyncClient, recording: str) -> str:
    """Which transcript it has."""
    return str((await client.get(f"/api/recordings/{recording}")).json()["transcript"]["id"])


def lines(page: Page) -> Locator:
    return page.get_by_role("list", name="Transcript").get_by_role("listitem")


def speakers(page: Page) -> Locator:
    return page.get_by_role("region", name="Speakers").get_by_role("listitem")


async def who(page: Page) -> list[str]:
    """The names over the lines, where one begins to speak."""
    return await lines(page).locator("b.who").all_inner_texts()


async def test_a_minute_is_recorded_named_corrected_asked_exported_and_shared(
    place: Place, visit: Visit, tmp_path: Path, talk: np.ndarray
):
    async with sitting(place, fresh("tenant"), tmp_path, encoded(talk, "wav")) as sit:
        visitor = await sit(accept_downloads=True)
        page = visitor.page
        await recorded(page, 11)
        await expect(recorder(page).get_by_role("checkbox", name="Tell speakers apart")).to_be_checked()
        await recorder(page).get_by_role("textbox", name="Title").fill("The bridge")
        await recorder(page).get_by_role("button", name="Stop and send").click()
        row = page.get_by_role("list", name="Recordings").get_by_role("listitem").filter(has_text="The bridge")
        await expect(row).to_contain_text("Done", timeout=90_000)
        await row.get_by_role("link", name="The bridge").click()

        for number, name in enumerate(("Ann", "Bob"), 1):
            await page.get_by_role("button", name=f"What to do with Speaker {number}").click()
            await page.get_by_role("menuitem", name="Name").click()
            await page.get_by_role("dialog").get_by_role("textbox", name="Name").fill(name)
            await page.get_by_role("dialog").get_by_role("button", name="Name them").click()
            await expect(speakers(page).filter(has_text=name)).to_be_visible()
        assert (await who(page))[:2] == ["Ann", "Bob"]

        first = lines(page).first
        await first.locator(".said p").dblclick()
        await page.get_by_role("textbox", name="Correct the line").fill("She asked seven questions.")
        await page.keyboard.press("Enter")
        await expect(first).to_contain_text("corrected")

        asking = page.get_by_role("region", name="Questions")
        await asking.get_by_role("textbox", name="Ask this recording").fill("What is asked?")
        await page.keyboard.press("Enter")
        await expect(asking.get_by_role("link", name=re.compile("Hear it at")).first).to_be_visible()

        await page.get_by_role("button", name="Export").click()
        async with page.expect_download() as downloading:
            await page.get_by_role("menuitem", name="Subtitles (SRT)").click()
        subtitles = await asyncio.to_thread(Path(await (await downloading.value).path()).read_text)
        assert "Ann: She asked seven questions." in subtitles
        assert "Bob: " in subtitles

        await page.get_by_role("button", name="Share").click()
        await page.get_by_role("button", name="Make a link").click()
        link = await page.locator("code", has_text="/shared/").inner_text()
        stranger = (await visit()).page
        await stranger.goto(link)
        await expect(lines(stranger).first).to_contain_text("She asked seven questions.")
        assert (await who(stranger))[:2] == ["Ann", "Bob"]


async def test_speakers_are_named_merged_divided_and_reassigned_by_keys_and_keep_their_names(
    place: Place, visit: Visit, client: httpx.AsyncClient, talk: np.ndarray
):
    one = await sent(client, talk, "Two voices", speakers="true")
    visitor = await visit()
    await visitor.enter(await place.person(fresh("reader"), TENANT))
    page = await visitor.open(f"/recordings/{one}")
    await expect(speakers(page)).to_have_count(2, timeout=90_000)
    await expect(page.get_by_role("main").locator("header").first).to_contain_text("Done")
    turns = await who(page)
    assert set(turns) == {"Speaker 1", "Speaker 2"}

    await keys.choose(page, page.get_by_role("button", name="What to do with Speaker 1"), "Name")
    await expect(page.get_by_role("dialog").get_by_role("textbox", name="Name")).to_be_focused()
    await page.keyboard.type("Ann")
    await page.keyboard.press("Enter")
    await expect(speakers(page).filter(has_text="Ann")).to_be_visible()
    assert await who(page) == ["Ann" if turn == "Speaker 1" else turn for turn in turns]

    await keys.choose(page, page.get_by_role("button", name="What to do with Speaker 2"), "Same as Ann")
    await keys.press(page, page.get_by_role("dialog").get_by_role("button", name="Merge them"))
    await expect(speakers(page)).to_have_count(1)
    assert await who(page) == ["Ann"]
    await keys.choose(page, page.get_by_role("button", name="What to do with Ann"), "Divide by voice")
    await expect(speakers(page)).to_have_count(2)
    assert len(await who(page)) == len(turns)

    await keys.reach(page, lines(page).first.get_by_role("button", name="Play from"))
    await page.keyboard.press("End")
    await keys.press(page, lines(page).last.get_by_role("button", name="Say who says this line"))
    dialog = page.get_by_role("dialog", name="Who says this line?")
    await keys.reach(page, dialog.get_by_role("radio", checked=True))
    await page.keyboard.press("ArrowUp")
    if not await dialog.get_by_role("radio", name="Somebody else").is_checked():
        await page.keyboard.press("ArrowUp")
    await keys.reach(page, dialog.get_by_role("textbox", name="Name"))
    await page.keyboard.type("Sam")
    await page.keyboard.press("Enter")
    await expect(lines(page).last).to_contain_text("Sam")
    told = await who(page)

    before = await made(client, one)
    await keys.choose(page, page.get_by_role("button", name="More actions"), "Process it again")
    await keys.press(page, page.get_by_role("dialog").get_by_role("button", name="Transcribe again"))

    async def anew() -> bool:
        return await made(client, one) != before

    await eventually(anew, within=90)
    await page.reload()
    await expect(lines(page).last).to_contain_text("Sam")
    assert await who(page) == told


async def test_text_grows_while_it_is_heard_and_the_palette_stops_and_retries_it(
    place: Place, visit: Visit, client: httpx.AsyncClient, ear: Ear
):
    ear.hears, ear.stops_at = [(0.0, 0.4, "good mourning"), (0.5, 0.9, "everyone")], 1
    one = await sent(client, silence(65.0), "Growing")
    visitor = await visit()
    await visitor.enter(await place.person(fresh("reader"), TENANT))
    page = await visitor.open(f"/recordings/{one}")
    await expect(lines(page)).to_have_count(2)
    await expect(page.get_by_text("The rest is still being heard")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("Space")
    await page.wait_for_function("() => document.querySelector('audio').currentTime > 0.1")
    await page.keyboard.press("Space")
    await page.keyboard.press("/")
    await page.keyboard.type("every")
    await expect(page.get_by_role("search")).to_contain_text("1 of 1")
    await page.keyboard.press("Escape")
    await lines(page).first.locator(".said p").dblclick()
    await page.get_by_role("textbox", name="Correct the line").fill("Good morning")
    await page.keyboard.press("Enter")
    corrected = lines(page).filter(has_text="Good morning")
    await expect(corrected).to_contain_text("corrected")

    ear.go_on(until=2)
    await expect(lines(page)).to_have_count(4)
    await expect(corrected).to_have_count(1)
    await in_palette(page, "cancel Growing", "Cancel Growing")
    await expect(page.get_by_text("This is as far as it was heard.")).to_be_visible()
    ear.go_on()
    await in_palette(page, "retry Growing", "Retry Growing")
    await expect(page.get_by_role("main").locator("header").first).to_contain_text("Done")
    await expect(page.get_by_text("as far as it was heard")).to_have_count(0)
    await expect(corrected).to_have_count(1)
    assert await lines(page).count() > 4


async def in_palette(page: Page, typed: str, wanted: str) -> None:
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Find or do").fill(typed)
    await expect(page.get_by_role("option", name=wanted, exact=True)).to_be_visible()
    await page.keyboard.press("Enter")
