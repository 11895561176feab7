"""A transcript as a PDF file, with every letter that it needs inside."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from towpath.recordings.printing import fonts
from towpath.recordings.printing.extra import need
from towpath.recordings.printing.outline import Outline, Said, is_right_to_left

if TYPE_CHECKING:
    from fpdf import FPDF

_FAMILY = "own"
_MARGIN, _LINE, _SIZE = 20.0, 5.6, 10.5
_GREY, _BLACK = 110, 20
_BOX = "\N{WHITE VERTICAL RECTANGLE}"
_DRAWN_AS_NOTHING = ("Cf", "Zs", "Zl", "Zp", "Cc")


def as_pdf(outline: Outline) -> bytes:
    need("pdf")
    print_out = _Printing(outline)
    print_out.whole()
    return print_out.done()


class _Printing:
    """One document. Letters that no font here has are drawn as boxes, and the end of the document says so."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        wanted = _letters(outline) - fonts.letters_of(fonts.own("figo"))
        self._others, missing = fonts.fonts_for(wanted)
        self._boxes = dict.fromkeys(missing, _BOX)
        self._missing = len(missing)
        self._pdf = self._made()

    def _made(self) -> FPDF:
        from fpdf import FPDF

        class Numbered(FPDF):
            def footer(self) -> None:
                self.set_y(-_MARGIN + 6)
                self.set_font(_FAMILY, size=8)
                self.set_text_color(_GREY)
                self.cell(0, 5, f"{self.page_no()} / {{nb}}", align="C")

        pdf = Numbered()
        pdf.set_margin(_MARGIN)
        pdf.set_auto_page_break(True, _MARGIN)
        pdf.add_font(_FAMILY, "", str(fonts.own("figo")))
        pdf.add_font(_FAMILY, "B", str(fonts.own("figbo")))
        for number, font in enumerate(self._others):
            pdf.add_font(f"other{number}", "", str(font.path))
        if self._others:
            pdf.set_fallback_fonts([f"other{number}" for number in range(len(self._others))], exact_match=False)
        pdf.set_text_shaping(True)
        pdf.set_title(self._outline.title)
        pdf.set_creator("Towpath")
        if self._outline.language:
            pdf.set_lang(self._outline.language)
        return pdf

    def whole(self) -> None:
        self._pdf.add_page()
        self._paragraph(self._outline.title, size=20, bold=True, after=1)
        self._paragraph(self._outline.facts, size=9, grey=True, after=5)
        if self._outline.summary:
            self._heading("Summary")
            for text in self._outline.summary:
                self._paragraph(text)
            self._paragraph(self._outline.summary_by, size=8.5, grey=True, after=5)
        self._heading("Transcript")
        for said in self._outline.lines:
            self._line(said)
        if self._missing:
            words = "One character" if self._missing == 1 else f"{self._missing:,} different characters"
            self._paragraph(
                f"{words} of this transcript stand as {_BOX}: no font of the machine that made this file has them. "
                "The Word and the text export have all of them.", size=8.5, grey=True,
            )  # fmt: skip

    def done(self) -> bytes:
        return bytes(self._pdf.output())

    def _heading(self, text: str) -> None:
        self._paragraph(text, size=13, bold=True, after=2)

    def _paragraph(
        self, text: str, *, size: float = _SIZE, bold: bool = False, grey: bool = False, after: float = 2.5
    ) -> None:
        if not text:
            return
        self._pdf.set_font(_FAMILY, "B" if bold else "", size)
        self._pdf.set_text_color(_GREY if grey else _BLACK)
        self._write(text, size * _LINE / _SIZE)
        self._pdf.ln(after)

    def _line(self, said: Said) -> None:
        """The time in the margin of the line, who speaks in bold, and what was said below or beside it."""
        self._pdf.set_font(_FAMILY, "B", 8.5)
        self._pdf.set_text_color(_GREY)
        head = f"{said.clock}   {said.speaker}" if said.speaker else said.clock
        self._write(head, 4.4)
        self._paragraph(said.text)

    def _write(self, text: str, height: float) -> None:
        shown = text.translate(self._boxes)
        align = "R" if is_right_to_left(shown) else "L"
        self._pdf.multi_cell(0, height, shown, align=align, new_x="LMARGIN", new_y="NEXT")


def _letters(outline: Outline) -> set[int]:
    """What has to be drawn; marks that only steer the others are left to them."""
    said = (part for one in outline.lines for part in (one.speaker, one.text))
    every = {*outline.title, *outline.facts, *outline.summary_by, *"".join(outline.summary), *"".join(said)}
    return {ord(char) for char in every if unicodedata.category(char) not in _DRAWN_AS_NOTHING}
