"""What kind of document some bytes are, told by themselves. Names say nothing but which of two kinds of text it is."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from towpath.extraction.inside import packages
from towpath.extraction.inside.refusals import Refused, encrypted

TAKEN = "PDF, DOCX, PPTX, XLSX, HTML, Markdown, plain text, e-mail (.eml) and pictures (PNG, JPEG, TIFF, WebP, BMP, GIF)"
_HEAD = 4096
_STRANGE = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b")


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    media_type: str
    macros: bool = False


PDF = Kind("PDF", "application/pdf")
HTML = Kind("HTML", "text/html")
MAIL = Kind("e-mail", "message/rfc822")
MARKDOWN = Kind("Markdown", "text/markdown")
TEXT = Kind("text", "text/plain")
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", Kind("picture", "image/png")), (b"\xff\xd8\xff", Kind("picture", "image/jpeg")),
    (b"II*\x00", Kind("picture", "image/tiff")), (b"MM\x00*", Kind("picture", "image/tiff")),
    (b"GIF87a", Kind("picture", "image/gif")), (b"GIF89a", Kind("picture", "image/gif")),
)  # fmt: skip
_OTHERS = (
    (b"\x1f\x8b", "a gzip archive"), (b"Rar!", "a RAR archive"), (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"{\\rtf", "an RTF document"), (b"%!PS", "a PostScript document"),
    (b"ID3", "audio"), (b"OggS", "audio"), (b"fLaC", "audio"), (b"\x1aE\xdf\xa3", "video"),
    (b"SQLite format 3", "a database"),
)  # fmt: skip
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAIL_FIELD = re.compile(
    rb"(?i)^(from|to|subject|date|received|return-path|message-id|mime-version|delivered-to|dkim-signature):[^\r\n]"
)
_ANY_FIELD = re.compile(rb"^[!-9;-~]+:[^\r\n]*$|^[ \t]+[^\r\n]*$")
_TAG = re.compile(rb"(?i)<(!doctype\s+html|html|head|body)[\s>]")
_MARKS = re.compile(r"(?m)^(#{1,6} \S|[-*+] \S|> \S|```|\|.+\|\s*$|\d+\. \S)|\]\([^)\s]+\)|^(---|===)\s*$")
_ORDERS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def kind_of(data: bytes, name: str, most_unpacked: int) -> Kind:
    """Raises `Refused` for what is no document that can be read here."""
    if not data:
        raise Refused("empty", "the file is empty: it has 0 bytes", "send the file again, it may not have been sent whole")
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith(b"PK"):
        return Kind(*packages.looked_into(data, most_unpacked))
    if data.startswith(_COMPOUND):
        raise _compound(data)
    if picture := _picture(data):
        return picture
    for begin, words in _OTHERS:
        if data.startswith(begin):
            raise unsupported(words)
    return _written(data, name)


def unsupported(words: str) -> Refused:
    return Refused("unsupported", f"the file is {words}, and is not read here", f"convert it to one of {TAKEN}")


def _compound(data: bytes) -> Refused:
    """Old Office files, and new ones with a password: a file system in a file, whose names are in UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return encrypted("Office document")
    return unsupported("an Office document of the time before 2007, or another compound file")


def _picture(data: bytes) -> Kind | None:
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Kind("picture", "image/webp")
    if data.startswith(b"BM") and data[6:10] == bytes(4) and len(data) > 26:
        return Kind("picture", "image/bmp")
    return next((kind for begin, kind in _PICTURES if data.startswith(begin)), None)


def _written(data: bytes, name: str) -> Kind:
    """Text of some kind, unless too much of it is none."""
    head = data[:_HEAD]
    if not head.startswith(_ORDERS) and _is_binary(head):
        raise unsupported("in a format that is not known here")
    if _TAG.search(head):
        return HTML
    if _is_mail(head):
        return MAIL
    if name.lower().endswith((".md", ".markdown", ".mkd")):
        return MARKDOWN
    if name.lower().endswith((".txt", ".text", ".log")):
        return TEXT
    return MARKDOWN if len(_MARKS.findall(head.decode("utf-8", "replace"))) >= 3 else TEXT


def _is_binary(head: bytes) -> bool:
    """Some stray bytes are in many old texts; every encoding but UTF-16 and UTF-32 is almost free of control characters."""
    if _is_wide(head):
        return False
    strange = len(head) - len(head.translate(None, _STRANGE))
    return strange > max(8, len(head) // 50)


def _is_wide(head: bytes) -> bool:
    """UTF-16 without a mark: in what people write every second byte is mostly zero, and never both."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    return len(head) > 8 and min(even, odd) == 0 and max(even, odd) > len(head) * 0.3


def _is_mail(head: bytes) -> bool:
    lines = head.replace(b"\r\n", b"\n").split(b"\n\n", 1)[0].split(b"\n")
    if len(head) == _HEAD:
        lines = lines[:-1]
    known = {found[1].lower() for line in lines if (found := _MAIL_FIELD.match(line))}
    return len(known) >= 2 and all(_ANY_FIELD.match(line) for line in lines if line)
