"""The page of a recording, with a real browser and real speech: sound and text in step, corrections, exports, and the link
for people without an account."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import docx
import httpx
import numpy as np
import pypdfium2
import pytest
from playwright.async_api import Page, ViewportSize, expect
from pytest_asyncio import fixture

from tests.browser.accessible import findings
from tests.browser.conftest import Visit
from tests.browser.contrast import too_faint
from tests.browser.hostile import expect_harmless, hostile
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor
from tests.browser.walking import walk_to
from tests.engine.working import eventually
from tests.products.recordings.media import encoded, filmed, silence, speech

pytestmark = pytest.mark.asyncio(loop_scope="session")

TENANT = "readers"
DESK = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=380, height=760)
LINES = "[role=list][aria-label=Transcript] [role=listitem]"


@dataclass(frozen=True, slots=True)
class Talk:
    """A recording that is done; `client` belongs to the person who uploaded it."""

    client: httpx.AsyncClient
    id: str

    @property
    def path(self) -> str:
        return f"/recordings/{self.id}"

    async def done(self) -> bool:
        return (await self.client.get(f"/api{self.path}")).json()["status"] == "COMPLETED"


@fixture(scope="module", loop_scope="session")
async def talk(place: Place) -> AsyncIterator[Talk]:
    said = np.concatenate([speech("beckett"), silence(2), speech("clone-test"), silence(2), speech("beckett")])
    async with place.client(TENANT) as client:
        sent = await client.post("/upload", files={"file": ("talk.mp3", encoded(said, "mp3"))}, data={"title": "Readings"})
        talk = Talk(client, sent.json()["id"])
        await eventually(talk.done, within=120)
        yield talk


@fixture(loop_scope="session")
async def reader(visit: Visit, place: Place) -> Visitor:
    visitor = await visit(accept_downloads=True)
    await visitor.enter(await place.person(fresh("reader"), TENANT))
    return visitor


async def opened(visitor: Visitor, path: str) -> Page:
    page = await visitor.open(path)
    await expect(page.locator(LINES).first).to_be_visible()
    return page


async def sound(page: Page, what: str = "currentTime") -> float:
    return await page.evaluate(f"document.querySelector('audio').{what}")


async def stands_at(page: Page, seconds: float) -> None:
    await page.wait_for_function(f"() => Math.abs(document.querySelector('audio').currentTime - {seconds}) < 0.2")


async def test_a_click_on_a_line_plays_from_there(reader: Visitor, talk: Talk):
    lines = (await talk.client.get(f"/api{talk.path}/transcript")).json()["segments"]
    page = await opened(reader, talk.path)
    await expect(page.locator(LINES)).to_have_count(len(lines))
    await page.locator(LINES).nth(1).get_by_text(lines[1]["text"]).click()
    await page.wait_for_function(f"() => document.querySelector('audio').currentTime > {lines[1]['start'] + 0.2}")
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    await expect(page.locator(LINES).nth(1)).to_have_attribute("aria-current", "true")
    await page.get_by_role("button", name="Pause").click()
    await page.locator(LINES).first.get_by_role("button", name="Play from").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_function(f"() => document.querySelector('audio').currentTime < {lines[1]['start']}")
    await page.wait_for_function("() => !document.querySelector('audio').paused")


async def test_keys_work_as_soon_as_the_page_is_there(reader: Visitor, talk: Talk):
    lines = (await talk.client.get(f"/api{talk.path}/transcript")).json()["segments"]
    page = await opened(reader, talk.path)
    await page.keyboard.press("j")
    await stands_at(page, lines[0]["start"])
    await page.keyboard.press("j")
    await stands_at(page, lines[1]["start"])
    await page.keyboard.press("k")
    await stands_at(page, lines[0]["start"])
    await page.keyboard.press("Shift+ArrowRight")
    await stands_at(page, lines[0]["start"] + 10)
    await page.keyboard.press("ArrowLeft")
    await stands_at(page, lines[0]["start"] + 5)
    await page.keyboard.press("Space")
    await page.wait_for_function("() => !document.querySelector('audio').paused")
    await page.keyboard.press("Space")
    await page.wait_for_function("() => document.querySelector('audio').paused")

    await page.reload()
    await expect(page.locator(LINES).nth(1)).to_be_visible()
    await page.keyboard.press("e")
    await expect(page.get_by_role("textbox", name="Correct the line")).to_have_value(lines[0]["text"])
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Find in the transcript")).to_be_focused()


async def test_an_address_with_a_second_opens_there_and_a_line_is_copied_with_one(reader: Visitor, talk: Talk):
    lines = (await talk.client.get(f"/api{talk.path}/transcript")).json()["segments"]
    await reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    last = lines[-1]
    for address in (f"{talk.path}?t={last['start'] + 1}", f"{talk.path}#t={int(last['start'] + 1)}"):
        await reader.open("/nowhere/but/elsewhere")
        page = await opened(reader, address)
        await expect(page.locator(LINES).last).to_have_attribute("aria-current", "true")
        await expect(page.locator(LINES).last).to_be_in_viewport()
        assert last["start"] < await sound(page) < last["end"] + 1

    await page.locator(LINES).last.hover()
    await page.locator(LINES).last.get_by_role("button", name="Copy this line with its time").click()
    await expect(page.get_by_text("Copied, with its time")).to_be_visible()
    quote = await page.evaluate("navigator.clipboard.readText()")
    said, _, link = quote.strip().splitlines()
    assert said == f"“{last['text']}”"
    assert link == f"{reader.address}{talk.path}?t={int(last['start'])}"
    page = await opened(reader, link.removeprefix(reader.address))
    await stands_at(page, int(last["start"]))
    await page.get_by_role("button", name="Export").click()
    await page.get_by_role("menuitem", name="Copy the text").click()
    await expect(page.get_by_text("The transcript is copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert all(line["text"] in copied for line in lines)


async def test_the_waveform_is_as_loud_as_the_sound(reader: Visitor, talk: Talk):
    page = await opened(reader, talk.path)
    drawn = page.locator("svg.measured path").first
    await expect(drawn).to_be_attached()
    tops = [float(part.split(" ")[1].split("V")[0]) for part in (await drawn.get_attribute("d")).split("M")[1:]]
    await page.wait_for_function("() => document.querySelector('audio')?.duration > 0")  # NaN until the file's head is there
    length = await sound(page, "duration")
    lines = (await talk.client.get(f"/api{talk.path}/transcript")).json()["segments"]
    for line in lines:
        assert min(tops[int(240 * line["start"] / length) : int(240 * line["end"] / length)]) < 12
    silent = int(240 * gap_between(lines) / length)
    assert tops[silent] > 19


def gap_between(lines: list[dict]) -> float:
    """The middle of the longest pause."""
    _, begin, end = max((after["start"] - line["end"], line["end"], after["start"]) for line, after in pairwise(lines))
    return (begin + end) / 2


async def test_a_video_is_seen_with_what_is_said_in_it(reader: Visitor, talk: Talk):
    sent = await talk.client.post("/upload", files={"file": ("film.webm", filmed(speech("clone-test")))})
    film = Talk(talk.client, sent.json()["id"])
    await eventually(film.done, within=120)
    page = await opened(reader, film.path)
    picture = page.locator("video")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("one => [one.videoWidth, one.videoHeight]") == [160, 90]
    cues = "one => [...one.textTracks[0].cues].map((cue) => cue.text)"
    lines = (await talk.client.get(f"/api{film.path}/transcript")).json()["segments"]
    assert await picture.evaluate(cues) == [line["text"] for line in lines]
    await page.keyboard.press("Space")
    await page.wait_for_function("() => document.querySelector('video').currentTime > 0.3")
    await page.get_by_role("button", name="Captions on").click()
    assert await picture.evaluate("one => one.textTracks[0].mode") == "hidden"
    assert [*await findings(page), *await too_faint(page)] == []


async def test_a_line_is_corrected_and_brought_back_and_nobody_is_overwritten(reader: Visitor, talk: Talk):
    page, address = await opened(reader, talk.path), f"/api{talk.path}/transcript/0"
    heard = (await talk.client.get(f"/api{talk.path}/transcript")).json()["segments"][0]["heard"]
    line, field = page.locator(LINES).first, page.get_by_role("textbox", name="Correct the line")

    await line.get_by_text(heard).dblclick()
    await field.fill("never mind")
    await field.press("Escape")
    await expect(line).to_contain_text(heard)
    await line.get_by_role("button", name="Play from").focus()
    await page.keyboard.press("e")
    await field.fill(hostile("typed"))
    await field.press("Enter")
    await expect(line).to_contain_text("corrected")
    await expect_harmless(page, "typed")

    reader.expects("status of 409")
    await page.keyboard.press("e")
    await field.fill("mine")
    assert (await talk.client.patch(address, json={"text": "theirs"})).is_success
    await field.press("Enter")
    await expect(line.get_by_role("alert")).to_contain_text("theirs")
    await expect(field).to_have_value("mine")
    await line.get_by_role("button", name="Keep theirs").click()
    await expect(line).to_contain_text("theirs")
    await line.hover()
    await line.get_by_role("button", name="Back to what was heard").click()
    await expect(line).to_contain_text(heard)
    await expect(line).not_to_contain_text("corrected")


async def test_words_are_found_and_the_title_is_changed(reader: Visitor, talk: Talk):
    page = await opened(reader, talk.path)
    await page.keyboard.press("/")
    await page.keyboard.type("FAIL")
    marks = page.locator("mark")
    hits = await marks.count()
    assert hits >= 2
    await expect(page.get_by_role("search")).to_contain_text(f"1 of {hits}")
    await page.keyboard.press("Shift+Enter")
    await expect(page.get_by_role("search")).to_contain_text(f"{hits} of {hits}")
    await page.keyboard.press("Escape")
    await expect(marks).to_have_count(0)
    await page.get_by_role("button", name="Change the title").click()
    await page.get_by_role("textbox", name="Title").fill(hostile("renamed"))
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text(hostile("renamed"))
    await expect_harmless(page, "renamed")


async def test_exports_are_downloaded(reader: Visitor, talk: Talk):
    page = await opened(reader, talk.path)
    saved: dict[str, bytes] = {}
    for kind in ("Plain text", "Word", "PDF", "Markdown", "Subtitles (SRT)", "Subtitles (VTT)", "JSON"):
        await page.get_by_role("button", name="Export").click()
        async with page.expect_download() as downloading:
            await page.get_by_role("menuitem", name=kind).click()
        download = await downloading.value
        saved[Path(download.suggested_filename).suffix] = await asyncio.to_thread(Path(await download.path()).read_bytes)
    assert set(saved) == {".txt", ".docx", ".pdf", ".md", ".srt", ".vtt", ".json"}
    word = "\n".join(one.text for one in docx.Document(io.BytesIO(saved.pop(".docx"))).paragraphs)
    with pypdfium2.PdfDocument(saved.pop(".pdf")) as pdf:
        printed = "\n".join(pdf[number].get_textpage().get_text_range() for number in range(len(pdf)))
    assert all("ail better" in text for text in (word, printed, *(one.decode() for one in saved.values())))
    assert json.loads(saved[".json"])["id"] == talk.id


async def test_a_link_opens_it_for_somebody_without_an_account_until_it_is_revoked(
    reader: Visitor, visit: Visit, talk: Talk
):
    page = await opened(reader, talk.path)
    await page.get_by_role("button", name="Share").click()
    await page.get_by_role("button", name="Make a link").click()
    url = await page.locator("code", has_text="/shared/").inner_text()

    stranger = await visit(viewport=PHONE)
    theirs = await opened(stranger, url.removeprefix(reader.address))
    await theirs.locator(LINES).nth(1).get_by_role("button", name="Play from").click()
    await theirs.wait_for_function("() => document.querySelector('audio').currentTime > 5")
    await theirs.locator(LINES).nth(1).dblclick()
    await expect(theirs.get_by_role("textbox")).to_have_count(0)
    assert [*await findings(theirs), *await too_faint(theirs)] == []
    assert await theirs.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(page.get_by_text("No link opens it now")).to_be_visible()
    stranger.expects("status of 404")
    await theirs.reload()
    await expect(theirs.get_by_role("heading", name="This link opens nothing any more")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_is_told_read_and_fits_on_a_phone(visit: Visit, place: Place, talk: Talk, scheme: str):
    visitor = await visit(viewport=PHONE, color_scheme=scheme)
    await visitor.enter(await place.person(fresh("reader"), TENANT))
    page = await opened(visitor, talk.path)
    await page.locator(LINES).nth(1).get_by_role("button", name="Play from").click()
    for path in (talk.path, "/recordings"):
        page = await walk_to(visitor, path, "Re")
        for viewport in (PHONE, DESK):
            await page.set_viewport_size(viewport)
            await visitor.settled()
            assert [*await findings(page), *await too_faint(page)] == []
            assert await page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
