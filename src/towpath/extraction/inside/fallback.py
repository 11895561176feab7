"""A second look at PDF files that the library cannot read: PDFium, which browsers use, forgives more."""

from __future__ import annotations

from towpath.extraction.inside.asked import Asked, Read
from towpath.extraction.inside.kinds import PDF
from towpath.extraction.inside.refusals import Refused, damaged, encrypted


def read_pdf(data: bytes, asked: Asked) -> Read:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise encrypted("PDF") if "password" in str(error).lower() else damaged("PDF", str(error)[:200]) from None
    if len(document) > asked.most_pages:
        raise Refused("too_large", f"the document has {len(document):,} pages, and at most {asked.most_pages:,} are read",
                      "cut it into parts, or raise TOWPATH_EXTRACT_PAGES")  # fmt: skip
    pages, warnings = [], ["the file is damaged; a second engine has read it"]
    for number in range(len(document)):
        try:
            pages.append((number + 1, _text(document[number])))
        except pypdfium2.PdfiumError:
            warnings.append(f"page {number + 1} cannot be read")
    if len(warnings) > len(document):
        raise damaged("PDF", "none of its pages can be read")
    title = document.get_metadata_value("Title") or None
    version = str(pypdfium2.PYPDFIUM_INFO)
    read = Read(PDF.name, PDF.media_type, "page", pages, "pypdfium2", version, title=title, warnings=warnings)
    read.pictures = [number for number, text in pages if not text.strip()]
    return read


def _text(page: object) -> str:
    lines = page.get_textpage().get_text_bounded()  # type: ignore[attr-defined]  # the library has no types
    return str(lines).replace("\r\n", "\n")
