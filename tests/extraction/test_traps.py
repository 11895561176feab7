"""Files that are made to do harm end in words, within their limits, and leave nothing behind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.extraction import papers, traps
from towpath.core.errors import Category
from towpath.extraction import DocumentUnreadable, Extractors, Limits, Options

_LIMITS = Limits(memory_mb=1024, seconds=60)
_REFUSED: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "empty file": (lambda: b"", "empty", "0 bytes"),
    "PDF with a password": (lambda: papers.pdf("x", password="secret"), "encrypted", "password"),
    "Office document with a password": (traps.locked_office, "encrypted", "password"),
    "half a DOCX": (traps.truncated, "damaged", "only a part of it"),
    "half a PDF": (lambda: traps.truncated(papers.pdf(*[papers.ENGLISH] * 5)), "damaged", "only a part of it"),
    "PDF whose tree of pages is a loop": (traps.looped_pages, "damaged", "none of its pages"),
    "PDF of 100,000 pages": (lambda: traps.many_pages(100_000), "too_large", "5,000 pages"),
    "zip bomb": (traps.zip_bomb, "bomb", "unpacks from"),
    "zip that lies about its size": (lambda: traps.lying_zip(600), "damaged", "larger than its declared"),
    "zip with a way out": (
        lambda: traps.word(traps.paragraph("x"), also={"../../etc/passwd": b"x"}), "unsafe", "leads out of it",
    ),
    "picture of 50,000 by 50,000 pixels": (traps.vast_picture, "bomb", "50,000×50,000 pixels"),
}  # fmt: skip
_HARMLESS: dict[str, Callable[[], bytes]] = {
    "PDF whose page unpacks to 2 GB": lambda: traps.stream_bomb(2000),
    "DOCX with a billion laughs": traps.billion_laughs,
    "HTML 100,000 elements deep": lambda: traps.deep_html(100_000),
}


@pytest.mark.parametrize("trap", _REFUSED)
async def test_a_trap_is_refused_with_its_cause(trap: str):
    made, why, words = _REFUSED[trap]
    async with Extractors(_LIMITS, spare=False) as extractors:
        with pytest.raises(DocumentUnreadable, match=words) as caught:
            await extractors.extract(made(), "innocent.docx")
    assert caught.value.why == why
    assert caught.value.remedy
    assert caught.value.category is Category.SCHEMA_INVALID


@pytest.mark.parametrize("trap", _HARMLESS)
async def test_a_trap_that_does_not_spring_has_no_text_and_says_so(trap: str):
    """They end within limits of which each would need a multiple if it were believed."""
    async with Extractors(_LIMITS, spare=False) as extractors:
        found = await extractors.extract(_HARMLESS[trap](), options=Options(ocr=False))
    assert found.text.strip() == ""
    assert "no text was found in it" in found.warnings


async def test_a_document_that_was_cut_says_so_when_there_is_something_to_read_in_it(extractors: Extractors):
    whole = papers.pdf(papers.ENGLISH)
    found = await extractors.extract(whole[: whole.rindex(b"xref")], options=Options(ocr=False))
    assert "barges" in found.text
    assert any("before its end" in warning for warning in found.warnings)


async def test_a_document_cannot_make_the_library_open_other_files(tmp_path: Path, extractors: Extractors):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    found = await extractors.extract(traps.external_entity(str(secret)))
    assert "before" in found.text
    assert "the secret" not in found.text


async def test_more_pages_and_more_text_than_are_taken_are_refused():
    async with Extractors(Limits(pages=2, characters=1000), spare=False) as extractors:
        with pytest.raises(DocumentUnreadable, match="2 pages") as pages:
            await extractors.extract(papers.pdf("one", "two", "three"))
        with pytest.raises(DocumentUnreadable, match="1,000 characters") as text:
            await extractors.extract(b"word " * 500)
    assert (pages.value.why, text.value.why) == ("too_large", "too_large")


async def test_after_a_trap_the_next_document_of_the_same_owner_is_read(extractors: Extractors):
    for made, _, _ in _REFUSED.values():
        with pytest.raises(DocumentUnreadable):
            await extractors.extract(made(), owner="somebody")
        assert (await extractors.extract(papers.ENGLISH.encode(), owner="somebody")).text == papers.ENGLISH
