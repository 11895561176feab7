"""What a text says, for comparing two: its words without the little ones that every text has, and its numbers."""

from __future__ import annotations

import re
from functools import cache

from towpath.search.languages import LITTLE, stemmer_for
from towpath.search.words import folded, stemmed, words_of

_NUMBER = re.compile(r"\d{2,}")


def language_of(text: str) -> str:
    """Whose stems a text has; empty for none."""
    return stemmer_for(None, text)


def content(text: str, language: str) -> frozenset[str]:
    """Stems of the words that say something. Compare texts by the stems of one language, whichever they are in."""
    return frozenset(word.form for word in words_of(text, language)) - little(language)


@cache
def little(language: str) -> frozenset[str]:
    """Stems of words that every text has and that say nothing by themselves."""
    words = LITTLE.get(language, LITTLE["en"]).split()
    return frozenset(form for word in words for form in (folded(word), stemmed(word, language)))


def numbers(text: str) -> frozenset[str]:
    """Those of two digits and more, without what stands before and between them: 1,250.00 has 1250, and 03 is 3."""
    forms = {word.form for word in words_of(text, "") if _NUMBER.fullmatch(word.form)}
    return frozenset(form.lstrip("0") for form in forms if form.strip("0"))
