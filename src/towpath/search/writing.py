"""Sources put into the index and taken out of it, in the caller's own transaction.

A search sees a source as it was before or as it is now, never half of each. Writing it again gives the same rows, so an
operation that is run again after a crash leaves nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from towpath import SchemaInvalid, Transaction, plain_text, to_json
from towpath.search.databases import database
from towpath.search.languages import stemmer_for
from towpath.search.preparing import put_near
from towpath.search.records import Passage, Source, Vectors
from towpath.search.terms import document, mark
from towpath.search.words import Word, words_of

LONGEST_PASSAGE = 50_000
"""Characters. Whoever opens a hit wants to see the place, and the databases keep positions of so many words only."""
_FORGET = ("search_words_forget", "search_tags_forget", "search_mentions_forget", "search_passages_forget")


async def replace(tx: Transaction, source: Source, passages: Sequence[Passage], vectors: Vectors | None = None) -> None:
    """The source has these passages from the commit on, and no others. `vectors` has a row for each; without it they are
    found by their words only."""
    _check(passages, vectors)
    texts = [plain_text(passage.text, LONGEST_PASSAGE) for passage in passages]
    language = stemmer_for(source.language, "\n".join(texts))
    [row] = await tx.query(
        "search_source_put", tenant=source.tenant, kind=source.kind, id=source.id, title=plain_text(source.title, 1000),
        language=language, facts=to_json(dict(source.facts)), now=tx.now,
    )  # fmt: skip
    number = row["number"]
    before = await _forget(tx, number)
    words = [list(words_of(text, language)) for text in texts]
    tags = sorted(set(source.tags))
    await tx.change("search_tags_add", tenant=source.tenant, tags=tags, source=number)
    await tx.change("search_passages_add", tenant=source.tenant, source=number, rows=to_json(_rows(texts, words, passages)))
    await _add_words(tx, source.tenant, number, words, before)
    await _add_mentions(tx, source.tenant, number, passages)
    if vectors is not None and passages:
        await _add_vectors(tx, source.tenant, number, vectors)


async def remove(tx: Transaction, tenant: str, kind: str, id: str) -> bool:
    """The source is not found any more from the commit on. False if there was none."""
    rows = await tx.query("search_source_lock", tenant=tenant, kind=kind, id=id)
    for row in rows:
        before = await _forget(tx, row["number"])
        await _drop_words(tx, before)
        await tx.change("search_source_forget", source=row["number"])
    return bool(rows)


def _check(passages: Sequence[Passage], vectors: Vectors | None) -> None:
    if vectors is not None and len(vectors) != len(passages):
        raise SchemaInvalid(
            f"there are {len(passages)} passages and vectors of {len(vectors)}",
            path="vectors",
            remedy="make one per passage",
        )
    longest = max((len(passage.text) for passage in passages), default=0)
    if longest > LONGEST_PASSAGE:
        raise SchemaInvalid(
            f"a passage has {longest:,} characters, and {LONGEST_PASSAGE:,} are the most", path="passages",
            remedy="cut the text with towpath.search.passages_of",
        )  # fmt: skip


async def _forget(tx: Transaction, source: int) -> list[str]:
    """Everything of a source but its own row; answers the words it had, where somebody has to keep a list of them."""
    lexemes = [row["lexeme"] for row in await tx.query("search_lexemes_of", source=source)]
    await tx.change("search_vectors_forget", source=source)
    if (await database(tx)).near:
        await tx.change("search_near_forget", source=source)
    for query in _FORGET:
        await tx.change(query, source=source)
    return lexemes


def _rows(texts: Sequence[str], words: Sequence[list[Word]], passages: Sequence[Passage]) -> list[list[object]]:
    return [
        [
            text,
            one.page,
            one.second,
            one.until,
            one.start,
            one.end,
            one.tokens,
            len(own),
            to_json(list(one.moments)) if one.moments else None,
        ]
        for text, own, one in zip(texts, words, passages, strict=True)
    ]


async def _add_words(tx: Transaction, tenant: str, source: int, words: Sequence[list[Word]], before: Sequence[str]) -> None:
    dialect = (await database(tx)).dialect
    documents = [document(tenant, row, dialect) for row in words]
    await tx.change("search_words_add", source=source, documents=documents)
    lexemes = {mark(tenant) + word.form for row in words for word in row}
    await tx.change("search_lexemes_add", lexemes=sorted(lexemes))
    await _drop_words(tx, [lexeme for lexeme in before if lexeme not in lexemes])


async def _drop_words(tx: Transaction, lexemes: Sequence[str]) -> None:
    if lexemes:
        await tx.change("search_lexemes_forget", lexemes=sorted(lexemes))


async def _add_mentions(tx: Transaction, tenant: str, source: int, passages: Sequence[Passage]) -> None:
    mentions = [
        [ordinal, one.type, plain_text(one.key, 200), plain_text(one.value, 200), one.start, one.end]
        for ordinal, passage in enumerate(passages)
        for one in passage.mentions
    ]
    if mentions:
        await tx.change("search_mentions_add", tenant=tenant, source=source, mentions=to_json(mentions))


async def _add_vectors(tx: Transaction, tenant: str, source: int, vectors: Vectors) -> None:
    """First the rows that both databases have. That locks their table, and whoever makes the other one waits for us."""
    await tx.change(
        "search_vectors_add", tenant=tenant, model=vectors.model, dimensions=vectors.dimensions, source=source,
        packed=vectors.packed,
    )  # fmt: skip
    if (await database(tx)).near:
        await put_near(tx, tenant, source, vectors)
