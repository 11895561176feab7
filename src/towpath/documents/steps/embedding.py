"""EMBEDDED: what each passage means, as a vector. Passages of many documents go to the model together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import Price
from towpath.documents import results
from towpath.documents.grouping import Grouping
from towpath.documents.names import CHUNKED, CONTENT_EXTRACTED, EMBEDDED
from towpath.documents.steps.chunking import passages
from towpath.documents.work import Work
from towpath.search import Vectors, packed
from towpath.search.meaning import Meaning

_CHARACTERS = 3  # of a token, at the least


async def embed(work: Work) -> dict[str, Any]:
    """Without a model documents are found by their words only, and say so."""
    embedder = work.app.part(Meaning).embedder
    chunks = work.output(CHUNKED)
    if embedder is None or not work.options.embed or not chunks["passages"]:
        return {"result": None, "reused": False, "model": None, "dimensions": 0}

    async def make() -> tuple[bytes, Mapping[str, Any]]:
        texts = [one.text for one in await passages(work)]
        budget = getattr(embedder, "budget", None)
        if budget is not None:
            await work.ctx.budget(budget)  # another document may have been told to wait
        rows = await work.app.part(Grouping).embed(embedder, texts)
        price = await _price(work)
        cents = None if price is None else price.of(chunks["tokens"], 0)
        await work.ctx.meter(model=embedder.name, tokens_in=chunks["tokens"], cost_cents=cents if budget else 0.0)
        if cents is not None:
            await work.ctx.spent(cents, key=EMBEDDED)
        vectors = packed(embedder.name, rows)
        return vectors.packed, {"model": vectors.model, "dimensions": vectors.dimensions}

    return await results.once(work, EMBEDDED, [chunks["result"], embedder.name], make)


async def embedding_costs(work: Work) -> float | None:
    """At the most, and only where a service with a price is asked."""
    price = await _price(work) if work.options.embed else None
    return None if price is None else price.of(work.output(CONTENT_EXTRACTED)["characters"] // _CHARACTERS + 1, 0)


async def _price(work: Work) -> Price | None:
    embedder = work.app.part(Meaning).embedder
    if embedder is None or getattr(embedder, "budget", None) is None:
        return None
    return (await work.app.prices.get()).get(embedder.name)


async def vectors_of(work: Work) -> Vectors | None:
    made = work.output(EMBEDDED)
    if made["result"] is None:
        return None
    return Vectors(made["model"], made["dimensions"], await results.body(work.ctx, work.tenant, made["result"]))
