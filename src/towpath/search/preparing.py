"""Taking up pgvector where it came after search: vectors that are there already go into its table, and get their graph."""

from __future__ import annotations

from towpath import App, Transaction, to_json
from towpath.search.databases import database
from towpath.search.meaning import Meaning, unpacked
from towpath.search.records import Vectors

_AT_ONCE = 200


async def prepare(app: App) -> bool:
    """Once, by hand or when a server starts; again is as good as once. Answers whether the database compares vectors itself.

    Searches go on as before meanwhile, and who writes waits: it is one transaction, which takes a minute for every hundred
    thousand passages.
    """

    async def unit(tx: Transaction) -> bool:
        if not (await database(tx)).near:
            [row] = await tx.query("search_near_make")
            if not row["made"]:
                return False
            await _take_over(tx)
        embedder = app.part(Meaning).embedder
        if embedder is not None:
            await tx.query("search_near_index", model=embedder.name, dimensions=embedder.dimensions)
        return True

    return await app.transact(unit)


async def _take_over(tx: Transaction) -> None:
    last = 0
    while rows := await tx.query("search_vectors_after", number=last, limit=_AT_ONCE):
        for row in rows:
            vectors = Vectors(row["model"], row["dimensions"], row["packed"])
            await put_near(tx, row["tenant"], row["source"], vectors)
        last = rows[-1]["number"]


async def put_near(tx: Transaction, tenant: str, source: int, vectors: Vectors) -> None:
    """A row for each passage of a source. A passage that says nothing is near to nothing, and has none."""
    rows = unpacked(vectors)
    telling = [ordinal for ordinal, row in enumerate(rows) if row.any()]
    await tx.change(
        "search_near_add", tenant=tenant, model=vectors.model, source=source, ordinals=telling,
        embeddings=[to_json([round(float(value), 5) for value in rows[ordinal]]) for ordinal in telling],
    )  # fmt: skip
