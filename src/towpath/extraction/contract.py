"""What extraction is asked for, and what it answers, whichever engine did it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Unit = Literal["page", "slide", "sheet", "text"]
"""What a page is; `text` is all of a document that has no pages, under the number 1."""
Method = Literal["text", "ocr", "mixed"]
_BYTES_PER_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may cost. `seconds` are of computing and of waiting; characters are of text that comes out."""

    memory_mb: int = 2048
    seconds: float = 300.0
    pages: int = 5000
    characters: int = 50_000_000
    pixels: int = 100_000_000

    @property
    def unpacked(self) -> int:
        """Bytes that an archive may unpack to: the library needs a multiple of them."""
        return self.memory_mb * _BYTES_PER_MB // 4


@dataclass(frozen=True, slots=True)
class Options:
    """`ocr` reads pages and pictures that have no text of their own."""

    ocr: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document as text. `kind` and `media_type` are by its content, `language` is a short tag such as `de`, or None if the
    text does not tell; `warnings` are for whoever sent it. `walls` are those that stood around the process."""

    name: str
    kind: str
    media_type: str
    title: str | None
    language: str | None
    unit: Unit
    pages: tuple[Page, ...]
    method: Method
    engine: str
    engine_version: str
    seconds: float
    metadata: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    walls: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n\n".join(page.text for page in self.pages if page.text)
