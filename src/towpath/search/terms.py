"""Words as the databases keep them: each with its tenant's mark before it.

So a question of one tenant cannot match a word of another's, whatever it says; what is counted, and what is taken for a
slip of the pen, are the tenant's own words; and the lists of passages that a database walks through are the tenant's
alone. Words are letters and digits only, so that nothing in a question is ever read as the database's own syntax.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from towpath.search.words import Word


@lru_cache(maxsize=10_000)
def mark(tenant: str) -> str:
    """Short, because it stands before every word. Should two tenants share one, statements also ask whose a passage is."""
    digest = hashlib.blake2s(tenant.encode(), digest_size=5).digest()
    return base64.b32encode(digest).decode().lower() + "_"


def document(tenant: str, words: Iterable[Word], dialect: str) -> str:
    """The words of a passage as its database indexes them: a text for FTS5, a tsvector for PostgreSQL."""
    before = mark(tenant)
    if dialect == "sqlite":
        return " ".join(before + word.form for word in words)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words, 1):
        places.setdefault(word.form, []).append(place)
    return " ".join(f"'{before}{form}':{','.join(map(str, at[:_PLACES]))}" for form, at in places.items())


_PLACES = 255  # as many as PostgreSQL keeps of one word


class Fts5:
    """Questions in the syntax of SQLite's FTS5."""

    @staticmethod
    def phrase(lexemes: Sequence[str]) -> str:
        return '"' + " ".join(lexemes) + '"'

    @staticmethod
    def any(parts: Iterable[str]) -> str:
        return "(" + " OR ".join(parts) + ")"

    @staticmethod
    def all(parts: Iterable[str]) -> str:
        return "(" + " AND ".join(parts) + ")"

    @staticmethod
    def without(wanted: str, unwanted: str) -> str:
        return f"({wanted} NOT {unwanted})"


class Tsquery:
    """Questions in the syntax of PostgreSQL's tsquery."""

    @staticmethod
    def phrase(lexemes: Sequence[str]) -> str:
        return "(" + " <-> ".join(f"'{lexeme}'" for lexeme in lexemes) + ")"

    @staticmethod
    def any(parts: Iterable[str]) -> str:
        return "(" + " | ".join(parts) + ")"

    @staticmethod
    def all(parts: Iterable[str]) -> str:
        return "(" + " & ".join(parts) + ")"

    @staticmethod
    def without(wanted: str, unwanted: str) -> str:
        return f"({wanted} & !{unwanted})"


Syntax = type[Fts5] | type[Tsquery]
SYNTAX: Mapping[str, Syntax] = {"sqlite": Fts5, "postgres": Tsquery}
