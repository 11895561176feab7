"""A text cut into passages: at headings and empty lines if it can be, else between sentences, else between words.

A passage never spans two pages, so a reader is always taken to the right one. Of what was spoken it has whole lines, so
the second is known. Where a passage of a written text stands is told by offsets in the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from towpath import SchemaInvalid
from towpath.search.recognizing import mentions
from towpath.search.records import Passage

TOKENS = 160
"""How long a passage is meant to be: about a paragraph. Longer ones mean several things at once, and their vectors none."""
_LEAST = 16
_CUTS = (
    re.compile(r"\n\s*\n+|\n(?=#{1,6} )"),
    re.compile(r"\n+"),
    re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])"),  # noqa: RUF001  # full-width marks end sentences, too
    re.compile(r"(?<=[,;:])\s+"),
    re.compile(r"\s+"),
)
"""From the best place for a cut to the worst."""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_WORD = 6


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document, or the whole of a text that has none. `offset` is where it begins in the whole text."""

    text: str
    number: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said, from one second to another."""

    text: str
    second: float
    until: float


def tokens_in(text: str) -> int:
    """About as many as a model's own tokenizer would make: a long word is several."""
    return sum(len(word) if _WIDE.match(word) else 1 + (len(word) - 1) // _WORD for word in _TOKEN.findall(text))


def passages_of(pages: str | Iterable[Page], *, tokens: int = TOKENS, entities: bool = True) -> list[Passage]:
    """Passages of a written text, each with the entities in it; without, for whoever looks for those elsewhere."""
    _check(tokens)
    given = [Page(pages)] if isinstance(pages, str) else pages
    return [
        _passage(page.text[start:end], entities, page=page.number, start=page.offset + start, end=page.offset + end)
        for page in given
        for start, end in _packed(page.text, tokens)
    ]


def passages_of_lines(lines: Sequence[Line], *, tokens: int = TOKENS) -> list[Passage]:
    """Passages of a transcript: whole lines, as many as fit, and what stands in them as it was spoken."""
    _check(tokens)
    found: list[Passage] = []
    held: list[Line] = []
    for line in lines:
        if not line.text.strip():
            continue
        if held and tokens_in(" ".join(one.text for one in (*held, line))) > tokens:
            found.append(_spoken(held))
            held = []
        held.append(line)
    return [*found, _spoken(held)] if held else found


def _passage(text: str, entities: bool, **place: Any) -> Passage:
    return Passage(text, tokens=tokens_in(text), mentions=mentions(text) if entities else (), **place)


def _spoken(lines: Sequence[Line]) -> Passage:
    said = [line.text.strip() for line in lines]
    text = " ".join(said)
    begins = accumulate((len(one) + 1 for one in said), initial=0)
    moments = [(begin, line.second) for begin, line in zip(begins, lines, strict=False)]
    return Passage(
        text, second=lines[0].second, until=lines[-1].until, tokens=tokens_in(text), mentions=mentions(text), moments=moments
    )


def _packed(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Neighbouring pieces are joined as long as they fit; ranges without the white space around them."""
    begin: int | None = None
    end = size = 0
    for start, stop in _pieces(text, 0, len(text), most, 0):
        more = tokens_in(text[start:stop])
        if begin is not None and size + more > most:
            yield begin, end
            begin, size = None, 0
        begin = start if begin is None else begin
        end, size = stop, size + more
    if begin is not None:
        yield begin, end


def _pieces(text: str, start: int, end: int, most: int, level: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    if tokens_in(text[start:end]) <= most:
        yield start, end
    elif level == len(_CUTS):
        yield from ((at, min(at + most * 2, end)) for at in range(start, end, most * 2))
    else:
        last = start
        for cut in _CUTS[level].finditer(text, start, end):
            yield from _pieces(text, last, cut.start(), most, level + 1)
            last = cut.end()
        yield from _pieces(text, last, end, most, level + 1)


def _check(tokens: int) -> None:
    if tokens < _LEAST:
        raise SchemaInvalid(f"a passage has {_LEAST} tokens or more, got {tokens}", path="tokens")
