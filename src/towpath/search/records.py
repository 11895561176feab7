"""What is put into the index, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    """Something that has text: a document, a recording, or whatever else a slice has. Those of a tenant are told apart by
    kind and id. `tags` is what searches may be narrowed to, such as `run:…` or `type:pdf`; `facts` comes back with hits."""

    tenant: str
    kind: str
    id: str
    title: str = ""
    language: str | None = None
    tags: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity where it stands in a passage. `key` is the same however it is written, and what mentions are counted by."""

    type: str
    value: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a source, in the order of the source. `page`, or `second` and `until`, says where a reader is taken
    to; `start` and `end` are where it stands in the source's whole text, for those who keep that."""

    text: str
    page: int | None = None
    second: float | None = None
    until: float | None = None
    start: int | None = None
    end: int | None = None
    tokens: int | None = None
    mentions: Sequence[Mention] = ()
    moments: Sequence[tuple[int, float]] = ()
    """Of what was spoken: where in the text each line begins, and its second."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """One row per passage of a source, made by one model: 16-bit floats, the lowest byte first, row after row."""

    model: str
    dimensions: int
    packed: bytes

    def __len__(self) -> int:
        return len(self.packed) // (2 * self.dimensions)


@dataclass(frozen=True, slots=True)
class Stored:
    """A passage as it is in the index. Its id stays the same as long as its source has a passage in that place."""

    id: str
    kind: str
    source_id: str
    title: str
    ordinal: int
    text: str
    page: int | None
    second: float | None
    until: float | None
    start: int | None
    end: int | None
    facts: Mapping[str, Any]
    moments: tuple[tuple[int, float], ...] = ()

    def second_at(self, place: int) -> float | None:
        """When the line was begun that has this place of the text in it; None if nobody spoke it."""
        begun = [second for start, second in self.moments if start <= place]
        return begun[-1] if begun else self.second


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers. `highlights` are ranges in its text: where the words that were asked for stand."""

    passage: Stored
    score: float
    highlights: tuple[tuple[int, int], ...]

    @property
    def second(self) -> float | None:
        """Of the line with the first of the words that were asked for, if it was spoken; else where the passage begins."""
        return self.passage.second_at(self.highlights[0][0] if self.highlights else 0)


@dataclass(frozen=True, slots=True)
class Found:
    """The best hits first. `after` asks for the next page; None when that was all."""

    hits: tuple[Hit, ...]
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that is named in a tenant's sources, under one of the ways it is written."""

    type: str
    key: str
    value: str
    passages: int
    sources: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A source as lists show it."""

    kind: str
    id: str
    title: str
    facts: Mapping[str, Any]
    passages: int
