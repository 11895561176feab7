"""Files made to do harm, or that came to harm: small here, large when they are believed."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache

from tests.extraction import papers

_MAIN = "word/document.xml"
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.'
    'document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body: str, *, before: str = "", also: Mapping[str, bytes] | None = None) -> bytes:
    """A Word document by hand; `before` comes before its root."""
    document = f'<?xml version="1.0"?>{before}<w:document xmlns:w="{_WORDS}"><w:body>{body}</w:body></w:document>'
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {"[Content_Types].xml": _TYPES, "_rels/.rels": _RELATIONS, _MAIN: document}.items():
            archive.writestr(name, data)
        for name, data in (also or {}).items():
            archive.writestr(name, data)
    return target.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def external_entity(path: str) -> bytes:
    return word(paragraph("before &secret; after"), before=f'<!DOCTYPE w [<!ENTITY secret SYSTEM "file://{path}">]>')


def billion_laughs() -> bytes:
    entities = '<!ENTITY l0 "ha">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return word(paragraph("&l9;"), before=f"<!DOCTYPE w [{entities}]>")


@cache  # packing so much takes seconds
def zip_bomb(megabytes: int = 2000) -> bytes:
    """A part of so many MB of spaces, in a few."""
    target = io.BytesIO(word(paragraph("small")))
    packed = zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED, compresslevel=1)
    with packed as archive, archive.open("word/media/more.xml", "w") as entry:
        for _ in range(megabytes):
            entry.write(b" " * 1024 * 1024)
    return target.getvalue()


@cache
def lying_zip(megabytes: int) -> bytes:
    """A document of so many MB whose archive says that it has a thousand bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        with archive.open(_MAIN, "w") as entry:
            entry.write(f'<?xml version="1.0"?><w:document xmlns:w="{_WORDS}"><w:body><w:p><w:r><w:t>'.encode())
            for _ in range(megabytes):
                entry.write(b"x" * 1024 * 1024)
            entry.write(b"</w:t></w:r></w:p></w:body></w:document>")
        real = struct.pack("<I", archive.getinfo(_MAIN).file_size)
    return target.getvalue().replace(real, struct.pack("<I", 1000))


def pdf_of(objects: Mapping[int, bytes], root: int = 1) -> bytes:
    """A PDF file by hand."""
    out, offsets = bytearray(b"%PDF-1.7\n"), {}
    for number, body in objects.items():
        offsets[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % offsets.get(number, 0)
    return bytes(out + b"trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, root, start))


def looped_pages() -> bytes:
    """A tree of pages whose branch holds its own root."""
    return pdf_of(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [3 0 R] /Count 2 >>",
            3: b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 2 >>",
        }
    )


def many_pages(count: int) -> bytes:
    kids = b" ".join(b"%d 0 R" % number for number in range(3, count + 3))
    tree = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count)}
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    return pdf_of(tree | dict.fromkeys(range(3, count + 3), page))


@cache
def stream_bomb(megabytes: int) -> bytes:
    """A page whose drawing unpacks to so many MB, packed twice."""
    packer = zlib.compressobj(1)
    once = b"".join([*(packer.compress(b"q Q " * 256 * 1024) for _ in range(megabytes)), packer.flush()])
    twice = zlib.compress(once, 9)
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(twice)
    return pdf_of(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>",
            4: head + twice + b"\nendstream",
        }
    )


@cache
def vast_picture(side: int = 50_000) -> bytes:
    """So many pixels to a side, all of them black, in a few kilobytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(1)
    line = bytes(1 + side // 8)
    rows = b"".join([*(packer.compress(line * 100) for _ in range(side // 100)), packer.flush()])
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def locked_office() -> bytes:
    """The beginning of what Office makes of a document with a password."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(4096)


def deep_html(depth: int) -> bytes:
    return b"<html><body>" + b"<div>" * depth + b"the bottom" + b"</div>" * depth + b"</body></html>"


def truncated(data: bytes = b"") -> bytes:
    whole = data or papers.docx_of(papers.ENGLISH)
    return whole[: len(whole) // 2]
