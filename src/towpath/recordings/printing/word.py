"""A transcript as a Word document. Letters come from the fonts of whoever opens it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from towpath.recordings.printing.extra import need
from towpath.recordings.printing.outline import Outline, Said, is_right_to_left

if TYPE_CHECKING:
    from docx.document import Document


def as_docx(outline: Outline) -> bytes:
    need("docx")
    import docx

    made = docx.Document()
    made.core_properties.title = outline.title[:255]
    made.core_properties.author = ""
    made.core_properties.language = outline.language or ""
    _paragraph(made, outline.title, "Title")
    _paragraph(made, outline.facts, "Subtitle")
    if outline.summary:
        _paragraph(made, "Summary", "Heading 1")
        for text in outline.summary:
            _paragraph(made, text)
        _paragraph(made, outline.summary_by, "Caption")
    _paragraph(made, "Transcript", "Heading 1")
    for said in outline.lines:
        _line(made, said)
    target = io.BytesIO()
    made.save(target)
    return target.getvalue()


def _paragraph(made: Document, text: str, style: str | None = None) -> Any:
    paragraph = made.add_paragraph(style=style)
    _directed(paragraph, [paragraph.add_run(text)], text)
    return paragraph


def _line(made: Document, said: Said) -> None:
    """The time and who speaks stand out, so that the eye finds them."""
    paragraph = made.add_paragraph()
    clock = paragraph.add_run(f"{said.clock}  ")
    clock.bold = True
    speaker = paragraph.add_run(f"{said.speaker}: " if said.speaker else "")
    speaker.bold = True
    _directed(paragraph, [clock, speaker, paragraph.add_run(said.text)], said.text)


def _directed(paragraph: Any, runs: list[Any], text: str) -> None:
    """Word does not look at the letters: a paragraph that runs from right to left says so, and each of its runs."""
    from docx.oxml import OxmlElement

    if not is_right_to_left(text):
        return
    paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
    for run in runs:
        run._r.get_or_add_rPr().append(OxmlElement("w:rtl"))
