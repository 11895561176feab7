"""Documents with a real browser: a folder is read, watched, found, opened at a passage, and tried again where it failed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from pytest_asyncio import fixture

from tests.browser.accessible import findings
from tests.browser.axe import OF_COLOURS, serious
from tests.browser.contrast import too_faint
from tests.browser.place import Place, fresh, opened_place
from tests.browser.shelf import GATES, WALK, Gate, Shelf, folder, write
from tests.browser.visitors import Visitor
from tests.models.wire_server import Answer, Asked, WireServer
from towpath import documents

pytestmark = pytest.mark.asyncio(loop_scope="session")

ONE = {"canal/guide.pdf": folder()["canal/guide.pdf"]}


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate()


@pytest.fixture(scope="module")
def chat() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@fixture(scope="module", loop_scope="session")
async def place(
    browser: Browser, gate: Gate, chat: WireServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Place]:
    """With a step at which documents can be held back, and a chat service."""
    async with opened_place(
        tmp_path_factory.mktemp("place"), chat_url=chat.url, chat_model="m",
        prepare=lambda app: documents.add_step(app, "PROOF_READ", gate.pass_through),
    ) as place:  # fmt: skip
        yield place


@pytest.fixture
def shelf(place: Place, tenant: str) -> Shelf:
    return Shelf(place, tenant)


async def readable(visitor: Visitor) -> list[str]:
    await visitor.settled()
    page = visitor.page
    told = [*await findings(page), *await too_faint(page)]
    await page.emulate_media(color_scheme="dark")
    told += [*await serious(page, *OF_COLOURS), *await too_faint(page)]
    await page.emulate_media(color_scheme="light")
    return told


def row(page: Page, name: str):
    return page.get_by_role("table", name="Documents of this run").get_by_role("row").filter(has_text=name)


async def test_a_folder_is_read_and_watched_and_what_failed_is_tried_again(
    ann: Visitor, place: Place, gate: Gate, shelf: Shelf, tmp_path: Path
):
    gate.shut()
    page = await ann.open("/documents")
    await expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    await page.get_by_role("link", name="New run").click()
    await page.get_by_role("button", name="Read them").click()
    await expect(page.get_by_role("alert")).to_have_text("Choose files or a folder.")
    await page.get_by_label("Folder to upload").set_input_files(write(folder(), tmp_path))
    await expect(page.get_by_text("6 files")).to_be_visible()
    await expect(page.get_by_text(", uploaded")).to_be_visible()
    assert await readable(ann) == []
    await page.get_by_role("button", name="Read them").click()

    await expect(row(page, "canal/letters/tolls.docx")).to_contain_text("Reading")
    steps = page.get_by_role("region", name="Steps").get_by_role("listitem")
    await expect(steps.filter(has_text="Proof read")).to_contain_text("0")
    await expect(steps.filter(has_text="Embedded")).to_contain_text("5")
    await expect(row(page, "broken.pdf")).to_contain_text("while reading its text")
    await expect(page.get_by_text("documents are being read")).to_be_visible()
    assert await readable(ann) == []
    gate.lift()
    await expect(page.get_by_text("1 of 6 documents were not read.")).to_be_visible()
    await expect(row(page, "guide.pdf")).to_contain_text("Read")

    causes = page.get_by_role("region", name="Why some were not read")
    await expect(causes).to_contain_text("What to do.")
    await causes.get_by_role("button", name="With other settings…").click()
    dialog = page.get_by_role("dialog", name="Retry 1 document with other settings")
    await dialog.get_by_label("Tokens of a passage").fill("5")
    await expect(dialog.get_by_role("button", name="Retry with these settings")).to_be_disabled()
    await dialog.get_by_label("Tokens of a passage").fill("64")
    await dialog.get_by_role("button", name="Retry with these settings").click()
    await expect(page.get_by_text("1 document queued again")).to_be_visible()
    item = await shelf.item(page.url.rpartition("/")[2], "broken.pdf")
    assert item.settings == {"chunk_tokens": 64}
    await expect(row(page, "broken.pdf")).to_contain_text("Failed")


async def test_the_same_content_is_shown_as_reused(ann: Visitor, shelf: Shelf):
    text = {"canal/letters/copy.txt": folder()["canal/letters/copy.txt"]}
    await shelf.read(text)
    run = await shelf.read({"elsewhere/copy.txt": text["canal/letters/copy.txt"]})
    page = await ann.open(f"/documents/runs/{run}")
    await expect(row(page, "elsewhere/copy.txt")).to_contain_text("Reused: the same content had been through text extracted")
    await expect(page.get_by_text("The document was read.")).to_be_visible()


async def test_failed_documents_are_ticked_retried_and_a_run_is_cancelled_and_deleted_with_keys_alone(
    ann: Visitor, gate: Gate, shelf: Shelf
):
    gate.shut()
    run = await shelf.send({**ONE, "canal/broken.pdf": b"%PDF-1.4\nnothing more", "canal/torn.pdf": b"%PDF-1.4\nnor here"})
    page = await ann.open(f"/documents/runs/{run}?status=failed")
    await expect(row(page, "torn.pdf")).to_contain_text("Failed")
    await expect(row(page, "guide.pdf")).to_have_count(0)
    await page.get_by_label("Tick broken.pdf").focus()
    await page.keyboard.press("Space")
    bulk = page.get_by_role("region", name="Ticked documents")
    await expect(bulk).to_contain_text("1 document ticked")
    await bulk.get_by_role("button", name="Retry", exact=True).press("Enter")
    await expect(page.get_by_text("1 document queued again")).to_be_visible()
    await page.get_by_role("button", name="Cancel", exact=True).press("Enter")
    await page.get_by_role("button", name="Cancel it").press("Enter")
    await expect(page.get_by_text("It was cancelled.")).to_be_visible()
    gate.lift()
    ann.expects("status of 404")  # the page may be asking for the run at the moment at which it goes
    await page.get_by_role("button", name="More actions").press("Enter")
    await page.get_by_role("menuitem", name="Delete…").press("Enter")
    await page.get_by_role("button", name="Delete it").press("Enter")
    await expect(page.get_by_role("heading", level=1, name="Documents")).to_be_visible()
    await expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()


async def test_a_passage_is_found_and_opens_in_its_document(ann: Visitor, shelf: Shelf):
    await shelf.read(folder() | {"canal/broken.pdf": b"mended"})
    await shelf.walk()
    page = await ann.open("/search")
    await expect(page.get_by_label("What to look for")).to_be_focused()
    await page.get_by_role("heading", level=1).focus()
    await page.keyboard.press("/")
    await page.keyboard.type("who opens the gates")
    await page.keyboard.press("Enter")
    results = page.get_by_role("list", name="Results").get_by_role("listitem")
    await expect(results.filter(has_text="A walk along the canal")).to_contain_text("recording at 0:06")
    await expect(results.filter(has_text="A walk along the canal").locator("mark")).to_have_text(["opens", "gates"])
    assert await readable(ann) == []
    link = results.filter(has_text="A walk along the canal").get_by_role("link")
    await expect(link).to_have_attribute("href", f"/recordings/{WALK}?t=6")

    await expect(page.get_by_text("No passage has these words.")).to_have_count(0)
    await page.get_by_label("Documents or recordings").select_option("Documents")
    await expect(results.filter(has_text="A walk")).to_have_count(0)
    await page.get_by_label("Type", exact=True).select_option("PDF")
    await expect(results.first).to_contain_text("PDF, page 2")
    await page.reload()
    await expect(page.get_by_label("What to look for")).to_have_value("who opens the gates")
    await results.filter(has_text="page 2").get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1, name="A guide to the canal")).to_be_visible()
    await expect(page.get_by_role("region", name="Page 2").locator("mark")).to_contain_text("Dr. Helen Brandt paid")
    await page.get_by_role("button", name="Next page").click()
    await expect(page.get_by_role("region", name="Page 3")).to_contain_text("Barges wait below the bridge")
    await expect(page.get_by_role("region", name="Page 3").locator("mark")).to_have_count(0)


async def test_words_that_no_passage_has_are_said_to_be_in_none(ann: Visitor, shelf: Shelf):
    await shelf.read(ONE)
    page = await ann.open("/search?q=locomotive")
    await expect(page.get_by_text("No passage has these words. These are the nearest by what they mean.")).to_be_visible()
    await expect(page.get_by_role("list", name="Results").locator("mark")).to_have_count(0)
    assert await readable(ann) == []


async def test_the_palette_leads_to_what_is_looked_for(ann: Visitor, shelf: Shelf):
    await shelf.read(ONE)
    page = await ann.open("/jobs")
    await expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("barges lunch")
    await page.get_by_role("option", name="Search documents and recordings for “barges lunch”").click()
    await expect(page.get_by_role("list", name="Results")).to_contain_text("Barges wait below the bridge")


async def test_a_document_has_its_names_its_readings_and_its_file_and_is_read_again_and_deleted(
    ann: Visitor, shelf: Shelf, tmp_path: Path
):
    await shelf.read(ONE)
    document = await shelf.document("guide.pdf")
    page = await ann.open(f"/documents/{document.id}")
    await expect(page.get_by_role("region", name="Named in it")).to_contain_text("Dr. Helen Brandt")
    await expect(page.get_by_role("region", name="How it was read")).to_contain_text("Names found")
    await page.get_by_label("Find in this document").get_by_role("searchbox").fill("lunch")
    await page.get_by_role("search", name="Find in this document").get_by_role("link", name="page 3").click()
    await expect(page.get_by_role("region", name="Page 3").locator("mark")).to_contain_text("Barges wait")
    assert await readable(ann) == []
    async with page.expect_download() as coming:
        await page.get_by_role("button", name="Download original").click()
    saved = tmp_path / "saved.pdf"
    await (await coming.value).save_as(saved)
    assert saved.read_bytes() == ONE["canal/guide.pdf"]
    await page.get_by_role("button", name="Read again").click()
    await expect(row(page, "guide.pdf")).to_contain_text("Reused")
    await page.goto(f"{ann.address}/documents/{document.id}")
    ann.expects("status of 404")  # as above, for the document
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Delete…").click()
    await page.get_by_role("button", name="Delete it").click()
    await expect(page.get_by_text("Documents appear here as soon as a run has read them.")).to_be_visible()


async def test_a_name_leads_to_what_is_said_of_it(ann: Visitor, shelf: Shelf):
    await shelf.read(ONE)
    page = await ann.open("/search?mode=names")
    await page.get_by_label("Type of name").select_option("Person")
    assert await readable(ann) == []
    await page.get_by_role("link", name="Dr. Helen Brandt").click()
    results = page.get_by_role("list", name="Results").get_by_role("listitem")
    await expect(results.first).to_contain_text(GATES[:30])
    await expect(page.get_by_role("button", name="Do not ask for helen brandt (person) any more")).to_be_visible()


async def test_a_question_is_answered_and_every_sentence_leads_to_its_passage(ann: Visitor, shelf: Shelf, chat: WireServer):
    def answer(asked: Asked) -> Answer:
        assert GATES in asked.json()["messages"][1]["content"]
        said = "Dr. Helen Brandt paid 1,250.00 EUR for the lock gates [1]. They are made of gold."
        choice = {"message": {"content": said}, "finish_reason": "stop"}
        return Answer({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})

    await shelf.read(ONE)
    chat.always = answer
    page = await ann.open("/search?mode=ask")
    await page.get_by_label("Your question").fill("What was paid for the lock gates?")
    await page.keyboard.press("Enter")
    told = page.get_by_role("region", name="What was paid for the lock gates?")
    await expect(told.get_by_role("link", name="Passage 1")).to_be_visible()
    await expect(told).to_contain_text("1,100 tokens")
    await expect(told.get_by_text("They are made of gold.")).to_be_hidden()
    await told.get_by_text("Left out of it: 1").click()
    await expect(told.get_by_text("They are made of gold.")).to_be_visible()
    assert await readable(ann) == []
    await page.reload()
    await told.get_by_role("link", name="A guide to the canal").first.click()
    await expect(page.get_by_role("region", name="Page 2").locator("mark")).to_contain_text("Dr. Helen Brandt paid")


async def test_a_question_that_the_service_refuses_says_why_and_is_asked_again(ann: Visitor, shelf: Shelf, chat: WireServer):
    await shelf.read(ONE)
    chat.always = lambda asked: Answer({"error": {"message": "no such model"}}, 400)
    page = await ann.open("/search?mode=ask")
    await page.get_by_label("Your question").fill("What was paid?")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("It could not be answered.")
    choice = {"message": {"content": "NO ANSWER"}, "finish_reason": "stop"}
    chat.always = lambda asked: Answer({"model": "m", "choices": [choice], "usage": {}})
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text("The passages that were found do not answer the question.")).to_be_visible()


async def test_the_inbox_names_the_document_and_leads_to_its_own_actions(ann: Visitor, shelf: Shelf):
    run = await shelf.read({"canal/broken.pdf": b"%PDF-1.4\nnothing more", **ONE})
    page = await ann.open("/inbox")
    await expect(page.get_by_role("button", name="Edit and requeue")).to_have_count(0)
    await page.get_by_role("link", name="Document broken.pdf").click()
    await expect(page.get_by_role("heading", level=1, name="broken.pdf")).to_be_visible()
    await expect(page.get_by_role("region", name="Everything that happened")).to_contain_text("Step failed")
    assert await readable(ann) == []
    await page.get_by_role("button", name="Retry", exact=True).click()
    await expect(page.get_by_text("1 document queued again")).to_be_visible()
    await page.get_by_role("link", name="broken.pdf and 1 more").click()
    await expect(page).to_have_url(f"{ann.address}/documents/runs/{run}")


async def test_addresses_are_pasted_and_a_slip_is_told_before_anything_is_sent(ann: Visitor, chat: WireServer):
    page = await ann.open("/documents/new?from=url")
    await page.get_by_role("textbox", name="Addresses").fill("nowhere")
    await page.get_by_role("button", name="Read them").click()
    await expect(page.get_by_role("alert")).to_contain_text("“nowhere” is no address")
    await page.get_by_role("textbox", name="Addresses").fill(f"{chat.root}/report.pdf")
    await page.get_by_label("Title").fill("The report")
    await page.get_by_role("button", name="Read them").click()
    await expect(page.get_by_role("heading", level=1, name="The report")).to_be_visible()
    await expect(row(page, "report.pdf")).to_contain_text("127.0.0.1")


async def test_whoever_leaves_files_behind_that_no_run_names_is_asked_first(ann: Visitor, tmp_path: Path):
    page = await ann.open("/documents/new")
    await page.get_by_label("Files to upload").set_input_files(write(folder(), tmp_path) / "guide.pdf")
    await expect(page.get_by_text(", uploaded")).to_be_visible()
    await page.get_by_role("link", name="Back").click()
    await expect(page.get_by_role("dialog", name="Leave without a run?")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("heading", level=1, name="New run")).to_be_visible()
    await page.get_by_role("link", name="Back").click()
    await page.get_by_role("button", name="Leave").click()
    await expect(page.get_by_role("heading", level=1, name="Documents")).to_be_visible()


async def test_a_run_appears_in_the_list_and_ends_there_without_anybody_asking_again(ann: Visitor, gate: Gate, shelf: Shelf):
    gate.shut()
    page = await ann.open("/documents")
    await expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    await expect(page.get_by_text("Live", exact=True)).to_be_attached()
    await shelf.send(ONE)
    line = page.get_by_role("table", name="Runs").get_by_role("row").filter(has_text="guide.pdf")
    await expect(line).to_contain_text("Reading")
    gate.lift()
    await expect(line).to_contain_text("1 of 1 read")
    await page.get_by_text("Documents", exact=True).last.click()
    await expect(page.get_by_role("table", name="Documents")).to_contain_text("A guide to the canal")


@pytest.mark.parametrize("width", [390, 1440])
async def test_every_page_of_a_document_fits(visit, place: Place, shelf: Shelf, tenant: str, width: int):
    run = await shelf.read({"canal/broken.pdf": b"%PDF-1.4\nnothing more", **ONE})
    document, item = await shelf.document("guide.pdf"), await shelf.item(run, "broken.pdf")
    visitor = await visit(viewport={"width": width, "height": 844})
    await visitor.enter(await place.person(fresh("ann"), tenant))
    wide = []
    for path in (f"/documents/runs/{run}", f"/documents/{document.id}", f"/documents/items/{item.id}", "/search?q=gates"):
        page = await visitor.open(path)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        wide += [(path, told) for told in await readable(visitor)]
        if await page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append((path, "too wide"))
    assert wide == []
