"""The library that reads every format that is text already: xberg. OCR, downloads and caches of its own are off."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from towpath.extraction.inside.asked import Asked, Read
from towpath.extraction.inside.kinds import Kind
from towpath.extraction.inside.languages import short
from towpath.extraction.inside.refusals import Refused, damaged, encrypted

_UNITS = {"PDF": "page", "DOCX": "page", "PPTX": "slide", "XLSX": "sheet"}
_FEW_LETTERS = 3
"""A page with fewer has no text of its own."""
_TAIL = 2048
"""The last line of a PDF file is in its last so many bytes."""
_REASON = re.compile(r"^(\w+ error: )+")
_NO_NEWS = ("exif", "language check for a wrong glyph")


class Library:
    """Loaded for a process, then started: threads that it starts behind the first walls cannot open anything either."""

    def __init__(self) -> None:
        import pypdfium2  # noqa: F401  (a file that is damaged wants it when nothing can be loaded any more)
        import xberg

        self._xberg, self._loop = xberg, asyncio.new_event_loop()
        self._configs: dict[tuple[int, int, int], Any] = {}
        self.version = str(xberg.__version__)

    def start(self) -> None:
        for media_type in ("text/plain", "text/html", "text/markdown"):
            self._read(b"one", media_type, 1, 100, 1024)

    def read(self, data: bytes, kind: Kind, asked: Asked) -> Read:
        try:
            found = self._read(data, kind.media_type, asked.most_pages, asked.most_characters, asked.most_unpacked)
        except (RuntimeError, ValueError, self._xberg.XbergError) as error:
            raise _refused(kind, str(error), asked) from None
        return self._told(found, data, kind)

    def _read(self, data: bytes, media_type: str, pages: int, characters: int, unpacked: int) -> Any:
        given = self._xberg.ExtractInput(kind="bytes", bytes=data, mime_type=media_type)
        result = self._loop.run_until_complete(self._xberg.extract(given, self._config(pages, characters, unpacked)))
        if result.errors or not result.results:
            raise RuntimeError("; ".join(item.message for item in result.errors[:3]) or "it gave no result")
        return result.results[0]

    def _config(self, pages: int, characters: int, unpacked: int) -> Any:
        """The same for every document of a process, but for the first ones that start the library."""
        if (pages, characters, unpacked) not in self._configs:
            self._configs[pages, characters, unpacked] = _config(self._xberg, pages, characters, unpacked)
        return self._configs[pages, characters, unpacked]

    def _told(self, found: Any, data: bytes, kind: Kind) -> Read:
        meta = found.metadata
        pages = [(page.page_number, _page_text(page)) for page in found.pages or []]
        unit = _UNITS.get(kind.name, "text") if pages else "text"
        read = Read(
            kind.name, kind.media_type, unit, pages or [(1, found.content)], "xberg", self.version,
            title=_text(meta.title), language=short(meta.language, found.detected_languages), metadata=_metadata(meta),
            warnings=[item.message for item in found.processing_warnings if not _is_no_news(item)],
        )  # fmt: skip
        if kind.macros:
            read.warnings.append("the document carries macros, which are neither run nor read")
        if kind.name == "PDF":
            if b"%%EOF" not in data[-_TAIL:]:
                read.warnings.append("the file stops before its end; some of it may be missing")
            read.pictures = [number for number, text in read.pages if not _has_text(text)]
        return read


def _config(xberg: Any, pages: int, characters: int, unpacked: int) -> Any:
    return xberg.ExtractionConfig(
        use_cache=False, disable_ocr=True, enable_quality_processing=False, max_archive_depth=0,
        mime_detection_policy="trust_extension",
        pages=xberg.PageConfig(extract_pages=True), language_detection=xberg.LanguageDetectionConfig(),
        concurrency=xberg.ConcurrencyConfig(max_threads=1), html_options=xberg.ConversionOptions(skip_images=True),
        security_limits=xberg.SecurityLimits(
            max_pages=pages, max_content_size=characters * 4, max_archive_size=unpacked, max_compression_ratio=1000,
            max_table_cells=5_000_000,
        ),
    )  # fmt: skip


def _is_no_news(item: Any) -> bool:
    return any(words in f"{item.source} {item.message}" for words in _NO_NEWS)


def _has_text(text: str) -> bool:
    return sum(char.isalnum() for char in text) >= _FEW_LETTERS


def _page_text(page: Any) -> str:
    text = page.content
    if page.sheet_name is not None:  # its heading comes twice
        heading = f"## {page.sheet_name}\n\n"
        while text.startswith(heading * 2):
            text = text[len(heading) :]
    return f"{text}\n\nNotes:\n\n{page.speaker_notes}" if page.speaker_notes else str(text)


def _text(given: Any) -> str | None:
    return str(given).strip() or None if given and str(given).strip().lower() != "untitled" else None


def _metadata(meta: Any) -> dict[str, Any]:
    wanted = {
        "authors": [str(name) for name in meta.authors or []], "subject": meta.subject, "keywords": meta.keywords,
        "created": meta.created_at, "modified": meta.modified_at,
    }  # fmt: skip
    return {name: value for name, value in wanted.items() if value}


def _refused(kind: Kind, message: str, asked: Asked) -> Refused:
    """Its errors have their meaning in their words."""
    said, words = _REASON.sub("", message)[:300], message.lower()
    if "encrypted" in words or "password" in words:
        return encrypted(kind.name)
    if "max_pages" in words or ("page" in words and "exceeds" in words):
        return Refused("too_large", f"the document has more than the {asked.most_pages:,} pages that are read",
                       "cut it into parts, or raise TOWPATH_EXTRACT_PAGES")  # fmt: skip
    if any(sign in words for sign in ("security", "bomb", "limit", "too large", "exceeds")):
        return Refused("bomb", f"the document was refused as unsafe ({said})", "send a document that is made as usual")
    return damaged(kind.name, said)
