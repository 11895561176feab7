"""What somebody typed, understood: words, phrases in quotes, and words that must not be there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from towpath import SchemaInvalid, plain_text
from towpath.search.words import words_of

LONGEST = 2000
_MOST_WORDS = 48
_PART = re.compile(r"(?P<minus>(?<!\S)-)?(?:\"(?P<phrase>[^\"]*)\"|(?P<bare>[^\s\"]+))")
_QUOTES = str.maketrans("„“”«»", '"""""')  # as other languages write them
Alternatives = tuple[str, ...]
"""A word in the stems of each language that a tenant's sources are in."""


@dataclass(frozen=True, slots=True)
class Question:
    """`words` make a passage rank, every one of `phrases` must be in it, and none of `excluded`. A phrase is a row of words
    for each language. `plain` is what meaning is looked for by: without what must not be there."""

    words: tuple[Alternatives, ...]
    phrases: tuple[tuple[Alternatives, ...], ...]
    excluded: tuple[tuple[Alternatives, ...], ...]
    plain: str

    @property
    def is_strict(self) -> bool:
        return bool(self.phrases or self.excluded)

    @property
    def says_something(self) -> bool:
        return bool(self.words or self.phrases)


def understood(text: str, languages: Sequence[str]) -> Question:
    """Whatever is typed is a question; only nothing at all is refused."""
    asked = plain_text(text, LONGEST).translate(_QUOTES)
    if not asked.strip():
        raise SchemaInvalid(
            "there is nothing to search for: the question is empty", path="q", remedy="give at least one word"
        )
    words: dict[Alternatives, None] = {}
    phrases, excluded, plain = [], [], []
    for part in _PART.finditer(asked):
        whole = part["phrase"] if part["phrase"] is not None else part["bare"]
        rows = _rows(whole, languages)
        if not rows:
            continue
        if part["minus"]:
            excluded.append(rows)
            continue
        plain.append(whole)
        if part["phrase"] is not None:
            phrases.append(rows)
        else:
            words.update(dict.fromkeys(tuple(dict.fromkeys(forms)) for forms in zip(*rows, strict=True)))
    few = tuple(words)[:_MOST_WORDS]
    return Question(few, tuple(phrases[:_MOST_WORDS]), tuple(excluded[:_MOST_WORDS]), " ".join(plain))


def _rows(text: str, languages: Sequence[str]) -> tuple[Alternatives, ...]:
    """The words of a text in each language; rows that are the same are there once."""
    spoken = languages or [""]
    all_rows = [tuple(word.form for word in words_of(text, language)) for language in spoken]
    return tuple(row for row in dict.fromkeys(all_rows) if row)
