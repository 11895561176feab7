"""Settings → Models: services that are tried and chosen, models that are pulled and removed, languages from a list."""

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from pytest_asyncio import fixture

from tests.browser.axe import serious
from tests.browser.conftest import Visit
from tests.browser.place import Place, fresh, opened_place
from tests.browser.visitors import Visitor
from tests.engine.working import eventually
from tests.models.test_pulling import mirror
from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.recordings.media import encoded, speech
from tests.products.recordings.studio import QUIET
from towpath.recordings import windows

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "sk-of-the-page"


def answering(asked: Asked) -> Answer:
    if asked.path.startswith("/model/"):
        return mirror(asked)
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return Answer({"error": {"message": "who are you?"}}, 401)
    said = [{"start": 0.0, "end": 0.9, "text": " Guten Morgen."}]
    return Answer({"text": "Guten Morgen.", "language": "german", "segments": said})


@pytest.fixture(scope="module")
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        server.always = answering
        yield server


@fixture(scope="module", loop_scope="session")
async def place(browser: Browser, wire: WireServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    async with opened_place(folder, models_dir=str(folder / "models"), models_url=wire.root) as place:
        yield place


async def test_a_service_is_added_tried_mended_and_chosen(root: Visitor, wire: WireServer, place: Place):
    root.expects("status of 422")
    page = await root.open("/settings/models")
    await expect(page.get_by_text("None is set up.")).to_be_visible()
    await page.get_by_role("button", name="Add a service").click()
    dialog = page.get_by_role("dialog", name="Add a service")
    await dialog.get_by_role("textbox", name="Name").fill("box")
    await dialog.get_by_role("textbox", name="Address").fill("localhost")
    await dialog.get_by_role("textbox", name="Model").fill("whisper-1")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("a URL begins with https://")
    await dialog.get_by_role("textbox", name="Address").fill(wire.url)
    await dialog.get_by_label("Key").fill("wrong")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_be_hidden()

    row = page.get_by_role("list", name="Services").get_by_role("listitem").filter(has_text="service/box")
    await expect(row).to_contain_text("with a key")
    await row.get_by_role("button", name="Test service/box").click()
    await expect(row.get_by_role("status")).to_contain_text("answered 401")
    await row.get_by_role("button", name="Actions for service/box").click()
    await page.get_by_role("menuitem", name="Edit…").click()
    dialog = page.get_by_role("dialog", name="service/box")
    await expect(dialog.get_by_label("Key optional")).to_have_value("")
    await dialog.get_by_label("Key optional").fill(KEY)
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_be_hidden()
    await row.get_by_role("button", name="Test service/box").click()
    await expect(row.get_by_role("status")).to_contain_text(": “Guten Morgen.”")

    await page.get_by_label("Hears recordings").select_option("service/box")
    await expect(row).to_contain_text("default")
    await expect(page.get_by_text("Chosen here.")).to_be_visible()
    assert KEY not in await page.content()
    await page.get_by_label("Hears recordings").select_option("")
    await expect(row).not_to_contain_text("default")


async def test_a_model_is_pulled_with_its_progress_and_removed_and_a_failure_says_what_to_do(
    root: Visitor, place: Place, wire: WireServer
):
    page = await root.open("/settings/models")
    models = page.get_by_role("list", name="Models on this machine")
    await page.get_by_role("button", name="more models").click()
    spanish = models.get_by_role("listitem").filter(has_text="moonshine/base-es")
    await spanish.get_by_role("button", name="Pull: moonshine/base-es").click()
    await expect(spanish).to_contain_text("answered 404")  # the mirror has English only
    await expect(spanish.get_by_role("button", name="Try again: moonshine/base-es")).to_be_visible()

    go_on = threading.Event()
    wire.always = lambda asked: replace(answering(asked), wait_for=go_on if asked.path.endswith("tokenizer.bin") else None)
    asked = await root.page.request.post(
        f"{place.address}/api/models/pull", data={"model": "moonshine/tiny-en"}, headers={"Origin": place.address}
    )
    assert asked.ok, await asked.text()
    tiny = models.get_by_role("listitem").filter(has_text="moonshine/tiny-en")
    await expect(tiny.get_by_role("progressbar", name="Fetching moonshine/tiny-en")).to_be_visible()
    await expect(tiny).to_contain_text("41.7 MiB of 41.9 MiB")
    await tiny.get_by_role("link", name="its job").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("models.pull")
    await page.go_back()
    go_on.set()
    folder = Path(place.app.settings.models_dir) / "moonshine" / "tiny-en"
    await eventually((folder / "tokenizer.bin").is_file)
    await expect(tiny).to_be_visible()
    await expect(tiny.get_by_role("progressbar")).to_have_count(0)
    await page.get_by_label("Hears recordings").select_option("service/box")
    await tiny.get_by_role("button", name="Remove moonshine/tiny-en").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
    await expect(tiny.get_by_role("button", name="Remove moonshine/tiny-en")).to_have_count(0)
    assert not folder.exists()
    await page.get_by_label("Hears recordings").select_option("")
    await expect(page.get_by_text("The usual one")).to_be_visible()


async def test_the_languages_of_an_upload_are_those_of_its_model(
    root: Visitor, visit: Visit, place: Place, wire: WireServer
):
    body = {"name": "both", "kind": "speech", "url": wire.url, "model": "m", "languages": ["de", "en"], "key": KEY}
    made = await root.page.request.post(f"{place.address}/api/models/services", data=body, headers={"Origin": place.address})
    assert made.ok, await made.text()
    page = await root.open("/recordings")
    await page.locator("input[type=file]").first.set_input_files({"name": "a.wav", "mimeType": "audio/wav", "buffer": QUIET})
    await page.get_by_role("button", name="Options").first.click()
    language = page.get_by_label("Language")
    await expect(language.locator("option")).to_have_text(["English"])
    await page.get_by_label("Model").select_option("service/both")
    await expect(language.locator("option")).to_have_text(["Found out by itself", "English", "German"])


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
async def test_the_page_has_no_serious_finding(visit: Visit, place: Place, colours: str, width: int):
    visitor = await visit(color_scheme=colours, viewport={"width": width, "height": 900})
    await visitor.enter(await place.person(fresh("root"), fresh("tenant"), admin=True))
    page = await visitor.open("/settings/models")
    await page.get_by_role("button", name="more models").click()
    assert await serious(page) == []
    await page.get_by_role("button", name="Add a service").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert await serious(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_transcript_that_does_not_read_like_its_language_says_so_and_leads_to_another_model(
    root: Visitor, place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(windows, "steadiness", lambda *_: 0.1)
    talk = encoded(speech("clone-test"), "mp3")
    answer = await root.page.request.post(
        f"{place.address}/upload",
        multipart={"file": {"name": "vortrag.mp3", "mimeType": "audio/mpeg", "buffer": talk}},
        headers={"Origin": place.address},
    )
    assert answer.ok, await answer.text()
    page = await root.open(f"/recordings/{(await answer.json())['id']}")
    told = page.get_by_role("region", name="What to know")
    await expect(told).to_contain_text("does not read like English")
    await expect(told).to_contain_text("Settings → Models")
    await told.get_by_role("button", name="Process it again").click()
    dialog = page.get_by_role("dialog", name="Process it again")
    await dialog.get_by_label("Model").select_option("service/both")
    await dialog.get_by_label("Language").select_option("German")
    await dialog.get_by_role("button", name="Transcribe again").click()
    await expect(told).to_have_count(0)
    await expect(page.get_by_text("Guten Morgen.").first).to_be_visible()
    await expect(page.get_by_role("main")).to_contain_text("German")
