"""What one document is asked for, and what comes of it, inside of the process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """As it comes over the pipe. `pages` are those to look at as pictures; none means that text is to be read."""

    name: str
    most_pages: int
    most_characters: int
    most_unpacked: int
    most_pixels: int
    pages: tuple[int, ...] = ()


@dataclass(slots=True)
class Read:
    """What came of it. `pictures` are numbers of pages that have no text of their own, and may be pictures of text."""

    kind: str
    media_type: str
    unit: str
    pages: list[tuple[int, str]]
    engine: str
    engine_version: str
    title: str | None = None
    language: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    method: str = "text"
