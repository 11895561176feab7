"""A question answered: by words, by meaning, and by both together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from towpath import App, Reading, Row, to_json
from towpath.search import by_words
from towpath.search.by_words import Matching
from towpath.search.databases import Database, database
from towpath.search.filters import Filter
from towpath.search.highlights import ranges, telling
from towpath.search.meaning import Meaning
from towpath.search.memory import Memory, Near, Place
from towpath.search.paging import start
from towpath.search.question import Question, understood
from towpath.search.ranking import fused
from towpath.search.records import Found, Hit
from towpath.search.stored import stored

How = Literal["both", "words", "meaning"]
MOST = 100
"""Hits on a page."""
_DEPTH = 200
"""So many of each ranking are put together; what stands further behind in both is nobody's answer."""
_FEW = 20_000
"""Passages of a tenant, or of the sources that are searched, that pgvector compares one by one."""
_TRIES = 2


async def find(
    app: App,
    tenant: str,
    question: str,
    *,
    filter: Filter | None = None,
    how: How = "both",
    limit: int = 10,
    after: str | None = None,
) -> Found:
    """The passages of a tenant that answer best. `after` is what the page before has given."""
    begin = start(limit, after, MOST)
    for _ in range(_TRIES):
        found, complete = await _answered(app, tenant, question, filter, how, (begin, limit))
        if complete:
            return found
    return (await _answered(app, tenant, question, filter, how, (begin, limit)))[0]


async def _answered(
    app: App, tenant: str, question: str, filter: Filter | None, how: How, place: tuple[int, int]
) -> tuple[Found, bool]:
    """And whether all of it was still there when it was read: sources may be written anew between two looks."""

    async def prepare(now: Reading) -> tuple[Question, Database, list[int] | None]:
        spoken = [row["language"] for row in await now.query("search_languages", tenant=tenant)]
        sources = None if filter is None else await filter.sources(now, tenant)
        return understood(question, spoken), await database(now), sources

    asked, at, sources = await app.read(prepare)
    if not asked.says_something or (sources is not None and not sources):
        return Found(()), True
    near = [] if how == "words" else await _nearest(app, tenant, asked, at, sources)

    async def answer(now: Reading) -> tuple[Found, bool]:
        matching = await by_words.matching(now, tenant, asked, at.dialect)
        words = [] if how == "meaning" else await by_words.found(now, tenant, matching, sources, _DEPTH)
        there = meant = await _still_there(now, near)
        if asked.is_strict and meant:
            allowed = await by_words.allowed(now, matching, [number for number, _ in meant])
            meant = [(number, similarity) for number, similarity in meant if number in allowed]
        ranked = fused(words, meant)
        begin, limit = place
        wanted = ranked[begin : begin + limit]
        hits = await _page(now, tenant, wanted, matching)
        found = Found(hits, str(begin + limit) if begin + limit < len(ranked) else None)
        return found, len(there) == len(near) and len(hits) == len(wanted)

    return await app.read(answer)


async def _nearest(
    app: App, tenant: str, asked: Question, at: Database, sources: list[int] | None
) -> list[Place] | list[Near]:
    """Passages by number where the database compares; otherwise by their place in their source's vectors."""
    meaning = app.part(Meaning)
    row = await meaning.of(asked.plain)
    if row is None or meaning.embedder is None:
        return []
    model = meaning.embedder.name
    if not at.near:
        return await app.part(Memory).nearest(app, tenant, model, row, sources, _DEPTH)
    rows = await app.query(
        "search_nearest", tenant=tenant, model=model, dimensions=meaning.embedder.dimensions,
        asked=to_json([round(float(value), 5) for value in row]), sources=sources, most=_DEPTH, few=_FEW,
    )  # fmt: skip
    return [Near(found["number"], found["similarity"]) for found in rows]


async def _still_there(now: Reading, near: list[Place] | list[Near]) -> list[tuple[int, float]]:
    """What has been replaced since it was compared is left out: its new text says something else."""
    places = [one for one in near if isinstance(one, Place)]
    if not places:
        return [(one.number, one.similarity) for one in near if isinstance(one, Near)]
    rows = await now.query("search_vectors_places", places=to_json([[one.vectors, one.ordinal] for one in places]))
    number_of = {(row["vectors"], row["ordinal"]): row["number"] for row in rows}
    found = [(number_of.get((one.vectors, one.ordinal)), one.similarity) for one in places]
    return [(number, similarity) for number, similarity in found if number is not None]


async def _page(now: Reading, tenant: str, wanted: Sequence[tuple[int, float]], asked: Matching) -> tuple[Hit, ...]:
    rows = await now.query("search_passages_by_number", numbers=[number for number, _ in wanted], tenant=tenant)
    by_number = {row["number"]: row for row in rows}
    return tuple(
        Hit(stored(row), score, _highlights(row, asked))
        for number, score in wanted
        if (row := by_number.get(number)) is not None
    )


def _highlights(row: Row, asked: Matching) -> tuple[tuple[int, int], ...]:
    language = row["language"]
    return ranges(row["text"], language, telling(asked.forms, asked.quoted, language))
