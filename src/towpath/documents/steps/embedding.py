"""EMBEDDED: what each passage means, as a vector. Passages of many documents go to the model together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath.documents import results
from towpath.documents.grouping import Grouping
from towpath.documents.names import CHUNKED, EMBEDDED
from towpath.documents.steps.chunking import passages
from towpath.documents.work import Work
from towpath.search import Vectors, packed
from towpath.search.meaning import Meaning


async def embed(work: Work) -> dict[str, Any]:
    """Without a model documents are found by their words only, and say so."""
    embedder = work.app.part(Meaning).embedder
    chunks = work.output(CHUNKED)
    if embedder is None or not work.options.embed or not chunks["passages"]:
        return {"result": None, "reused": False, "model": None, "dimensions": 0}

    async def make() -> tuple[bytes, Mapping[str, Any]]:
        texts = [one.text for one in await passages(work)]
        rows = await work.app.part(Grouping).embed(embedder, texts)
        await work.ctx.meter(model=embedder.name, tokens_in=chunks["tokens"], cost_cents=0.0)
        vectors = packed(embedder.name, rows)
        return vectors.packed, {"model": vectors.model, "dimensions": vectors.dimensions}

    return await results.once(work, EMBEDDED, [chunks["result"], embedder.name], make)


async def vectors_of(work: Work) -> Vectors | None:
    made = work.output(EMBEDDED)
    if made["result"] is None:
        return None
    return Vectors(made["model"], made["dimensions"], await results.body(work.ctx, work.tenant, made["result"]))
