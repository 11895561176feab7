"""Documents made here: such as people send, each with the same few sentences in it."""

from __future__ import annotations

import io
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pptx
from docx.enum.text import WD_BREAK
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

ENGLISH = "The horses drew the barges along the canal, and the keeper of the lock took a toll of seven guilders."
GERMAN = "Die Schleuse ist fünf Meter breit, und die Größe der Schiffe wird vom Wärter des Kanals genau gemessen."
MIXED = "Canal is קנאל in Hebrew, قناة in Arabic, канал in Russian and 運河 in Japanese."
_FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def pdf(*pages: str, title: str | None = "The canal", password: str | None = None) -> bytes:
    made = FPDF()
    made.set_font("helvetica", size=12)
    if title:
        made.set_title(title)
    if password:
        made.set_encryption(owner_password="owner", user_password=password)
    for page in pages:
        made.add_page()
        made.multi_cell(0, 6, page)
    return bytes(made.output())


def docx_of(*pages: str, table: list[list[str]] | None = None) -> bytes:
    made = docx.Document()
    made.core_properties.title = "The canal"
    for number, page in enumerate(pages):
        if number:
            made.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        made.add_paragraph(page)
    if table:
        grid = made.add_table(len(table), len(table[0]))
        for row, cells in enumerate(table):
            for column, text in enumerate(cells):
                grid.cell(row, column).text = text
    return _saved(made)


def pptx_of(*slides: tuple[str, str, str]) -> bytes:
    """Each with its title, its text and its notes."""
    made = pptx.Presentation()
    for title, text, notes in slides:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        slide.notes_slide.notes_text_frame.text = notes
    return _saved(made)


def xlsx_of(sheets: dict[str, list[list[object]]]) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return _saved(made)


def mail(text: str, *attached: str) -> bytes:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = "A question of tolls: für Ülm", "a@example.org", "b@example.org"
    made["Date"] = "Tue, 17 Nov 2026 10:00:00 +0000"
    made.set_content(text)
    made.add_alternative("<p>the same as <b>HTML</b></p>", subtype="html")
    for name in attached:
        made.add_attachment(b"what lies in the attachment", maintype="application", subtype="octet-stream", filename=name)
    return bytes(made)


def picture(*lines: str, kind: str = "PNG") -> bytes:
    """As if somebody had scanned a page."""
    font = ImageFont.truetype(_FONT, 34) if _FONT.exists() else ImageFont.load_default(34)
    made = Image.new("L", (1000, 120 + 80 * len(lines)), 255)
    for number, line in enumerate(lines):
        ImageDraw.Draw(made).text((60, 60 + 80 * number), line, fill=0, font=font)
    target = io.BytesIO()
    made.save(target, kind)
    return target.getvalue()


def scanned(*pages: bytes | str) -> bytes:
    """A PDF file whose pages are pictures where bytes are given, and text where a string is."""
    made = FPDF()
    made.set_font("helvetica", size=12)
    for page in pages:
        made.add_page()
        if isinstance(page, str):
            made.multi_cell(0, 6, page)
        else:
            made.image(io.BytesIO(page), x=0, y=0, w=210)
    return bytes(made.output())


def _saved(made: object) -> bytes:
    target = io.BytesIO()
    made.save(target)
    return target.getvalue()
