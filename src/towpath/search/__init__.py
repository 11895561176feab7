"""Search: an index over whatever has text, by words and by meaning, on both databases.

A slice puts its sources in (`replace`) and takes them out (`remove`) in its own transaction; `find` answers questions of one
tenant. It needs no server, and knows nothing of what its sources are.
"""

from towpath.search.asked import questions_about
from towpath.search.chunks import Line, Page, passages_of, passages_of_lines
from towpath.search.content import content, language_of, numbers
from towpath.search.entities import entities, mentions_in, sources_of
from towpath.search.filters import Filter
from towpath.search.finding import How, find
from towpath.search.meaning import Embedder, embedded, meanings, packed
from towpath.search.preparing import prepare
from towpath.search.recognizing import SHOWN, mentions
from towpath.search.records import Entity, Found, Hit, Listed, Mention, Passage, Source, Stored, Vectors
from towpath.search.slice import attach, is_installed
from towpath.search.stored import PassageNotFound, has, passage
from towpath.search.writing import remove, replace

__all__ = [
    "SHOWN",
    "Embedder",
    "Entity",
    "Filter",
    "Found",
    "Hit",
    "How",
    "Line",
    "Listed",
    "Mention",
    "Page",
    "Passage",
    "PassageNotFound",
    "Source",
    "Stored",
    "Vectors",
    "attach",
    "content",
    "embedded",
    "entities",
    "find",
    "has",
    "is_installed",
    "language_of",
    "meanings",
    "mentions",
    "mentions_in",
    "numbers",
    "packed",
    "passage",
    "passages_of",
    "passages_of_lines",
    "prepare",
    "questions_about",
    "remove",
    "replace",
    "sources_of",
]
