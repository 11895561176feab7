"""Where the words that were asked for stand in a passage."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from towpath.search.content import little
from towpath.search.words import words_of


def telling(asked: frozenset[str], quoted: frozenset[str], language: str) -> AbstractSet[str]:
    """Of the words that were asked for those worth showing: not "the" and "of", unless they were quoted or stand alone."""
    return quoted | ((asked - little(language)) or asked)


def ranges(text: str, language: str, forms: AbstractSet[str]) -> tuple[tuple[int, int], ...]:
    """In order, none over another."""
    found: list[tuple[int, int]] = []
    for word in words_of(text, language):
        if word.form not in forms:
            continue
        if found and word.start <= found[-1][1] - 1:  # parts of one number, or pairs of characters
            found[-1] = (found[-1][0], max(word.end, found[-1][1]))
        else:
            found.append((word.start, word.end))
    return tuple(found)
