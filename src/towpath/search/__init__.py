"""Search: an index over whatever has text, by words and by meaning, on both databases.

A slice puts its sources in (`replace`) and takes them out (`remove`) in its own transaction; `find` answers questions of one
tenant. It needs no server, and knows nothing of what its sources are.
"""

from towpath.search.chunks import Line, Page, passages_of, passages_of_lines
from towpath.search.entities import entities, mentions_in, sources_of
from towpath.search.filters import Filter
from towpath.search.finding import find
from towpath.search.meaning import Embedder, embedded, meanings, packed
from towpath.search.preparing import prepare
from towpath.search.recognizing import mentions
from towpath.search.records import Entity, Found, Hit, Listed, Mention, Passage, Source, Stored, Vectors
from towpath.search.slice import attach, is_installed
from towpath.search.stored import PassageNotFound, passage
from towpath.search.writing import remove, replace

__all__ = [
    "Embedder",
    "Entity",
    "Filter",
    "Found",
    "Hit",
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
    "embedded",
    "entities",
    "find",
    "is_installed",
    "meanings",
    "mentions",
    "mentions_in",
    "packed",
    "passage",
    "passages_of",
    "passages_of_lines",
    "prepare",
    "remove",
    "replace",
    "sources_of",
]
