"""INDEXED: the document can be found. What is in the index and what the document's row says change together."""

from __future__ import annotations

from typing import Any

from towpath import Transaction, search
from towpath.documents import results
from towpath.documents.names import CONTENT_EXTRACTED, DOCUMENT, FETCHED, INDEX_KIND, PERSISTED, run_tag, type_tag
from towpath.documents.steps.chunking import passages
from towpath.documents.steps.embedding import vectors_of
from towpath.documents.steps.recognizing import mentions_in
from towpath.documents.work import Work
from towpath.search import Source


async def index(work: Work) -> dict[str, Any]:
    """Nothing is done if the index has just this. If another item has read the same source meanwhile, it is that one's."""
    document_id, fingerprint = work.output(PERSISTED)["document_id"], work.output(PERSISTED)["fingerprint"]
    tags = [type_tag(work.output(CONTENT_EXTRACTED)["kind"]), *await _runs(work, document_id)]
    indexed = results.digest(fingerprint, tags)
    rows = await work.ctx.query("document_standing", id=document_id)
    if not rows or rows[0]["item_id"] != work.item.id:
        return {"passages": 0, "superseded": True}
    if rows[0]["indexed"] == indexed:
        return {"passages": 0, "unchanged": True}
    found = await mentions_in(work, await passages(work))
    vectors = await vectors_of(work)
    source = _source(work, document_id, tags)

    async def unit(tx: Transaction) -> bool:
        locked = await tx.query("document_lock", id=document_id)
        if not locked or locked[0]["item_id"] != work.item.id:
            return False
        await search.replace(tx, source, found, vectors)
        await tx.change("document_indexed", id=document_id, indexed=indexed)
        await tx.tell(DOCUMENT, document_id)
        return True

    done = await work.ctx.transact(unit)
    return {"passages": len(found) if done else 0} | ({} if done else {"superseded": True})


async def _runs(work: Work, document_id: str) -> list[str]:
    rows = await work.ctx.query("document_runs_of", id=document_id)
    return [run_tag(row["run_id"]) for row in rows]


def _source(work: Work, document_id: str, tags: list[str]) -> Source:
    content = work.output(CONTENT_EXTRACTED)
    name = work.output(FETCHED)["name"]
    facts = {"name": name, "kind": content["kind"], "media_type": content["media_type"], "unit": content["unit"]}
    return Source(
        work.tenant, INDEX_KIND, document_id, title=content["title"] or name, language=content["language"], tags=tags,
        facts=facts,
    )  # fmt: skip
