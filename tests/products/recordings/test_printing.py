"""Transcripts as Word and PDF files, read back by libraries that others open them with."""

from __future__ import annotations

import io

import docx
import pypdfium2
import pytest

from tests.products.recordings.test_exports import LINES, NOW, exported
from towpath import ConfigurationError
from towpath.recordings import exports
from towpath.recordings.printing import fonts, outline_of
from towpath.recordings.printing import pdf as printing_pdf
from towpath.recordings.printing.extra import need
from towpath.recordings.printing.outline import is_right_to_left
from towpath.recordings.records import Line, Summary

SUMMARY = Summary(
    "s1", "r1", "t1", "Two boats passed.\n\nNobody paid.", "extractive", None, None, None, None, None, NOW
)  # fmt: skip
MANY_SCRIPTS = (
    "Καλημέρα, ανοίγουμε", "Доброе утро, шлюз открыт", "שלום לכולם", "გამარჯობა ყველას", "Grüße aus Łódź, İzmir",
)  # fmt: skip


def word_of(what: exports.Exported) -> docx.document.Document:
    return docx.Document(io.BytesIO(exports.rendered(what, "docx")))


def text_of(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return "\n".join(document[number].get_textpage().get_text_range() for number in range(len(document)))
    finally:
        document.close()


def test_word_has_the_title_the_summary_and_every_line_with_its_time():
    made = word_of(exported(*LINES, summary=SUMMARY))
    said = [paragraph.text for paragraph in made.paragraphs]
    assert said[:2] == ["Locks & canals", "2026-03-01, 00:01:01, en, locks.mp3"]
    assert said[2:6] == ["Summary", "Two boats passed.", "Nobody paid.", "sentences of the transcript"]
    assert said[6:] == [
        "Transcript", "00:00:00  Good morning.", "00:00:02  We open the lock.",
        "01:01:01  Anna: Mind the <gate> & the water.",
    ]  # fmt: skip
    assert made.core_properties.title == "Locks & canals"


def test_pdf_has_the_same_and_brings_its_letters():
    made = exports.rendered(exported(*LINES, summary=SUMMARY), "pdf")
    text = text_of(made)
    for part in (
        "Locks & canals",
        "Nobody paid.",
        "00:00:02",
        "We open the lock.",
        "01:01:01 Anna",
        "Mind the <gate>",
        "1 / 1",
    ):
        assert part in " ".join(text.split())
    assert b"/FontFile2" in made


def test_letters_of_many_scripts_are_drawn_and_can_be_copied():
    text = text_of(
        exports.rendered(exported(*(Line(at, at, at, None, said) for at, said in enumerate(MANY_SCRIPTS))), "pdf")
    )
    for said in MANY_SCRIPTS:
        for word in said.split():
            assert word.strip(",") in text


def test_letters_that_no_font_has_are_boxes_and_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fonts, "of_this_machine", lambda: ())
    what = exported(Line(0, 0.0, 1.0, None, "早上好 and good morning"))
    text = " ".join(text_of(exports.rendered(what, "pdf")).split())
    assert "▯▯▯ and good morning" in text
    assert "3 different characters of this transcript stand as ▯" in text
    assert "早上好 and good morning" in word_of(what).paragraphs[-1].text


def test_letters_that_come_from_a_font_of_this_machine_are_drawn(monkeypatch: pytest.MonkeyPatch):
    """The family's own second half stands for it: with Latin letters only in the first, the others come from there."""
    own = fonts.own("figo")
    latin = frozenset(letter for letter in fonts.letters_of(own) if letter < 0x250)
    monkeypatch.setattr(fonts, "of_this_machine", lambda: (own,))
    found, left = fonts.fonts_for({ord("ш"), ord("a"), 0xE000})
    assert ([font.path for font in found], left) == ([own], {0xE000})
    real = fonts.letters_of
    asked: list[object] = []

    def once_less(path: object) -> frozenset[int]:
        asked.append(path)
        return latin if len(asked) == 1 else real(own)

    monkeypatch.setattr(fonts, "letters_of", once_less)
    outline = outline_of("t", [], "ru", [], summary="шлюз открыт")
    assert "шлюз открыт" in text_of(printing_pdf.as_pdf(outline))


def test_a_line_that_runs_from_right_to_left_says_so():
    made = word_of(exported(Line(0, 0.0, 1.0, None, "שלום לכולם"), Line(1, 1.0, 2.0, None, "Good morning")))
    xml = [paragraph._p.xml for paragraph in made.paragraphs[-2:]]
    assert "w:bidi" in xml[0]
    assert xml[0].count("<w:rtl/>") == 3
    assert "w:bidi" not in xml[1]
    assert is_right_to_left("12:30 صباح")
    assert not is_right_to_left("12:30")


@pytest.mark.parametrize("wanted", ["docx", "pdf"])
def test_what_no_document_can_hold_is_left_out(wanted: str):
    wicked = exported(Line(0, 0.0, 1.0, "\x1b[2J", "a\x00b\uffff\udc00 **c** \u202e__d__ --e--"), title="\x07")
    made = exports.rendered(wicked, wanted)
    text = text_of(made) if wanted == "pdf" else "\n".join(one.text for one in docx.Document(io.BytesIO(made)).paragraphs)
    assert "ab **c**" in text


def test_a_long_transcript_goes_over_pages():
    what = exported(*(Line(at, at * 4.0, at * 4.0 + 3, None, "A sentence about boats. " * 6) for at in range(120)))
    made = exports.rendered(what, "pdf")
    document = pypdfium2.PdfDocument(made)
    assert len(document) > 5
    document.close()
    assert f"{len(pypdfium2.PdfDocument(made))} / {len(pypdfium2.PdfDocument(made))}" in text_of(made)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("towpath.recordings.printing.extra.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"nothing here writes pdf files; .*towpath\[export\]"):
        need("pdf")
    need("txt")
