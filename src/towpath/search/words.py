"""Text as words to be found by: the same for both databases, so that the same question finds the same passages.

A word is folded (case, accents, widths) and cut to its stem by the language of its source. Numbers are one word however
their thousands are set apart. Scripts without blanks are indexed by pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from towpath import ConfigurationError

LONGEST = 64
"""Characters of a word that count: what is longer is no word that anybody types."""

_NUMBER = r"\d+(?:[.,'’ ]\d{3})*(?!\d)(?:[.,]\d+)*"  # the apostrophe that Swiss numbers have
_MARKED = r"[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff\u0e31-\u0e4e]"
_WIDE = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_TOKEN = re.compile(rf"(?P<wide>{_WIDE}+)|(?P<number>{_NUMBER})(?![^\W_])|(?P<word>[^\W_](?:(?!{_WIDE})[^\W_]|{_MARKED})*)")
_GROUPS = re.compile(r"[.,'’ ]")  # as above
_SPELLED = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})  # noqa: RUF001  # Turkish has an i without a dot

STEMMERS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "sv": "swedish",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: how it is looked up, and where it stands."""

    form: str
    start: int
    end: int


def words_of(text: str, language: str | None) -> Iterator[Word]:
    """Every word of a text in its order."""
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match["wide"]:
            yield from _pairs(match[0], start)
        elif match["number"]:
            yield from (Word(form, start, end) for form in _digits(match[0]))
        else:
            yield Word(stemmed(match[0], language), start, end)


@lru_cache(maxsize=100_000)
def stemmed(word: str, language: str | None) -> str:
    low = word[:LONGEST].casefold()
    stem = _stemmer(language)
    return folded(stem(low) if stem is not None and low.isalpha() else low)


@lru_cache(maxsize=100_000)
def folded(word: str) -> str:
    """Without case, accents and other marks that people leave out when they type."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word.casefold().translate(_SPELLED))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))[:LONGEST] or word


def _digits(number: str) -> list[str]:
    """Thousands are put together, and what stands behind a decimal point is a word of its own: 1,250.00 is 1250 00."""
    first, *rest = _GROUPS.split(number)
    forms = [first]
    for group in rest:
        if len(group) == 3 and len(first) <= 3 and len(forms) == 1:
            forms[0] += group
        else:
            forms.append(group)
    return [unicodedata.normalize("NFKC", form)[:LONGEST] for form in forms]


def _pairs(run: str, start: int) -> Iterator[Word]:
    if len(run) == 1:
        yield Word(run, start, start + 1)
    for at in range(len(run) - 1):
        yield Word(run[at : at + 2], start + at, start + at + 2)


@cache
def _stemmer(language: str | None) -> Any:
    name = STEMMERS.get(language or "")
    if name is None:
        return None
    try:
        import snowballstemmer  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        raise ConfigurationError(
            "search needs snowballstemmer, which is not installed: pip install 'towpath[local]'"
        ) from None
    return snowballstemmer.stemmer(name).stemWord
