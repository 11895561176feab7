"""Every format becomes text with pages, whatever the file is called."""

from pathlib import Path

import pytest

from tests.extraction import papers, traps
from towpath.extraction import DocumentUnreadable, Extractors, Options, extract

FORMATS = {
    "PDF": lambda: papers.pdf(papers.ENGLISH),
    "DOCX": lambda: papers.docx_of(papers.ENGLISH),
    "PPTX": lambda: papers.pptx_of(("Tolls", papers.ENGLISH, "")),
    "XLSX": lambda: papers.xlsx_of({"Tolls": [[papers.ENGLISH]]}),
    "HTML": f"<html><body><p>{papers.ENGLISH}</p></body></html>".encode,
    "Markdown": f"# The canal\n\n- one\n- two\n\n{papers.ENGLISH}\n".encode,
    "text": papers.ENGLISH.encode,
    "e-mail": lambda: papers.mail(papers.ENGLISH),
}
UNITS = {"PDF": "page", "DOCX": "page", "PPTX": "slide", "XLSX": "sheet"}


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("kind", FORMATS)
async def test_what_a_document_is_its_content_says_and_not_its_name(kind: str, extractors: Extractors):
    for name in ("document", "wrong.xlsx", "wrong.pdf", "wrong.png"):
        found = await extractors.extract(FORMATS[kind](), name, owner="somebody")
        assert (found.kind, found.unit) == (kind, UNITS.get(kind, "text"))
        assert papers.ENGLISH in flat(found.text)
        assert (found.method, found.engine) == ("text", "xberg")


async def test_pages_of_a_pdf_are_numbered_and_its_head_is_read(extractors: Extractors):
    found = await extractors.extract(papers.pdf(papers.ENGLISH, "The second page.", "The third page."))
    assert [page.number for page in found.pages] == [1, 2, 3]
    assert found.pages[1].text.strip() == "The second page."
    assert found.title == "The canal"
    assert found.language == "en"


async def test_a_file_is_read_as_its_bytes_are(tmp_path: Path, extractors: Extractors):
    path = tmp_path / "content"
    path.write_bytes(papers.pdf(papers.ENGLISH))
    assert (await extractors.extract(path)).pages == (await extractors.extract(path.read_bytes())).pages


async def test_pages_of_a_word_document_end_where_its_writer_ended_them(extractors: Extractors):
    found = await extractors.extract(papers.docx_of(papers.GERMAN, "Zweite Seite.", table=[["Ort", "Zoll"], ["Ulm", "7"]]))
    assert len(found.pages) == 2
    assert papers.GERMAN in found.pages[0].text
    assert "Ulm\t7" in found.pages[1].text
    assert found.language == "de"


async def test_slides_have_their_notes(extractors: Extractors):
    found = await extractors.extract(papers.pptx_of(("One", "first text", "a note"), ("Two", "second text", "")))
    assert [page.number for page in found.pages] == [1, 2]
    assert "a note" in found.pages[0].text
    assert "second text" in found.pages[1].text


async def test_a_sheet_is_a_table_under_its_name_once(extractors: Extractors):
    found = await extractors.extract(papers.xlsx_of({"Tolls": [["Ort", "Zoll"], ["Ulm", 7]], "More": [["x", 1.5]]}))
    assert found.pages[0].text.count("Tolls") == 1
    assert "| Ulm | 7 |" in found.pages[0].text
    assert "| x | 1.5 |" in found.pages[1].text


async def test_scripts_of_a_web_page_are_neither_run_nor_read(extractors: Extractors):
    page = (
        b"<html lang=de><head><title>Der Kanal</title><script>document.write('evil')</script></head>"
        b"<style>p { evil }</style><body onload='evil()'><p>Gut <b>so</b></p><img src=x onerror='evil()'>"
        b"<script>evil()</script></body></html>"
    )
    found = await extractors.extract(page)
    assert "Gut so" in found.text
    assert "evil" not in found.text
    assert (found.title, found.language) == ("Der Kanal", "de")


async def test_an_e_mail_has_its_head_its_text_and_the_names_of_what_is_attached(extractors: Extractors):
    found = await extractors.extract(papers.mail(papers.GERMAN, "bill.bin", "plan.pdf"))
    assert found.title == "A question of tolls: für Ülm"
    assert papers.GERMAN in flat(found.text)
    assert "a@example.org" in found.text
    assert found.metadata["attachments"] == ["bill.bin", "plan.pdf"]
    assert "bill.bin" in found.text
    assert "what lies in the attachment" not in found.text
    assert any("2 attached files" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", papers.MIXED), ("utf-8-sig", papers.MIXED), ("utf-16", papers.MIXED), ("cp1252", papers.GERMAN),
        ("koi8-r", "История канала и шлюзов в городе. Лошади тянули баржи по каналу."),
        ("shift_jis", "運河の歴史について。船は馬に引かれました。"),
    ],
)  # fmt: skip
async def test_text_is_read_in_the_encoding_it_was_written_in(encoding: str, text: str, extractors: Extractors):
    assert (await extractors.extract(text.encode(encoding), "notes.txt")).text.strip() == text


async def test_nothing_that_comes_out_has_a_null_in_it(extractors: Extractors):
    found = await extractors.extract(b"one\x00two three four five six seven eight nine ten eleven twelve")
    assert "\x00" not in found.text
    assert "three four five" in found.text


async def test_bytes_that_are_no_letters_do_not_spoil_the_rest(extractors: Extractors):
    assert "barges along the canal" in (await extractors.extract(papers.ENGLISH.encode() + b" \xff\xfe\xfa \xc3\x28")).text


async def test_ten_megabytes_in_one_line_are_all_read(extractors: Extractors):
    assert len((await extractors.extract(b"word " * 2_000_000)).text) >= 9_999_999


async def test_macros_are_neither_run_nor_read_and_are_told_of(extractors: Extractors):
    found = await extractors.extract(traps.word(traps.paragraph("the text"), also={"word/vbaProject.bin": b"evil"}))
    assert found.text.strip() == "the text"
    assert any("macros" in warning for warning in found.warnings)


async def test_blank_pages_are_blank_and_keep_their_numbers(extractors: Extractors):
    found = await extractors.extract(papers.pdf("", "text here", ""), options=Options(ocr=False))
    assert [(page.number, page.text.strip()) for page in found.pages] == [(1, ""), (2, "text here"), (3, "")]
    assert any("pages without text" in warning for warning in found.warnings)


async def test_pages_that_are_pictures_are_read_as_such_and_the_others_are_not(extractors: Extractors):
    scan = papers.picture("Toll at Ulm: seven guilders", "Invoice 2041-77")
    found = await extractors.extract(papers.scanned(papers.ENGLISH, scan))
    assert papers.ENGLISH in flat(found.pages[0].text)
    assert found.pages[1].text.splitlines() == ["Toll at Ulm: seven guilders", "Invoice 2041-77"]
    assert (found.method, found.engine) == ("mixed", "xberg+rapidocr")
    assert any("read off pictures" in warning for warning in found.warnings)


async def test_text_in_pictures_is_read(extractors: Extractors):
    for kind in ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"):
        found = await extractors.extract(papers.picture("The keeper of the lock", kind=kind), "scan", owner="somebody")
        assert (kind, found.kind, found.method, found.pages[0].text) == (kind, "picture", "ocr", "The keeper of the lock")


async def test_one_document_is_read_without_keeping_anything_warm():
    assert (await extract(papers.ENGLISH.encode(), "notes.txt")).text.strip() == papers.ENGLISH


async def test_without_ocr_a_picture_is_a_page_without_text(extractors: Extractors):
    found = await extractors.extract(papers.picture("The keeper"), options=Options(ocr=False))
    assert [(page.number, page.text) for page in found.pages] == [(1, "")]
    assert "no text was found in it" in found.warnings


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x1f\x8b\x08" + bytes(50), "a gzip archive"), (b"\x7fELF" + bytes(50), "a program"), (b"{\\rtf1 text}", "RTF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "before 2007"), (bytes(range(32)) * 40, "not known here"),
    ],
)  # fmt: skip
async def test_what_is_no_document_is_refused_by_what_it_is(data: bytes, words: str, extractors: Extractors):
    with pytest.raises(DocumentUnreadable, match=words) as caught:
        await extractors.extract(data, "report.docx")
    assert caught.value.why == "unsupported"
    assert "DOCX" in (caught.value.remedy or "")
