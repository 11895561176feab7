"""PERSISTED: the document's row, made of everything before it. All that ran beside each other meets here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import Transaction, new_id, plain_text, to_json
from towpath.documents import results
from towpath.documents.names import CHUNKED, CONTENT_EXTRACTED, DOCUMENT, EMBEDDED, ENTITY_EXTRACTED, FETCHED, REINGEST
from towpath.documents.records import Document, document_from
from towpath.documents.work import Work

USUAL = (FETCHED, CONTENT_EXTRACTED, CHUNKED, EMBEDDED, ENTITY_EXTRACTED)
_LONGEST_MADE = 100_000
_OLDEST = ""


async def persist(work: Work) -> dict[str, Any]:
    """The document of this source, as this item has read it. Again is as good as once."""
    parts = _parts(work)
    made = {name: output for name, output in work.outputs.items() if name not in USUAL}
    fingerprint = results.digest(work.output(FETCHED)["sha256"], work.output(FETCHED)["name"], parts, made)
    row, fresh = _row(work, made, fingerprint), new_id()

    async def unit(tx: Transaction) -> dict[str, Any]:
        known = [document_from(one) for one in await tx.query(
            "document_of_source", tenant=work.tenant, source=work.item.source)]  # fmt: skip
        before = known[0] if known else None
        as_of = _as_of(work, before)
        if before is not None and before.item_id != work.item.id and as_of < before.as_of:
            return await _left_out(tx, work, before, row)
        same = before is not None and before.fingerprint == fingerprint
        own = {"asset_id": row["asset_id"], "own_asset": row["own_asset"]}
        if before is not None and same and before.own_asset:  # one copy of the same content is enough
            own = {"asset_id": before.asset_id, "own_asset": True}
        [put] = await tx.query("document_put", id=before.id if before else fresh, now=tx.now, as_of=as_of, **(row | own))
        await tx.change("document_holds_forget", ids=[put["id"], work.item.id])
        await tx.change_many("document_hold_add", [{"holder_id": put["id"], "result_id": one} for one in parts])
        await tx.change("document_item_outcome", id=work.item.id, document_id=put["id"], outcome=None)
        await tx.tell(DOCUMENT, put["id"])
        theirs = before.asset_id if before is not None and before.own_asset else None
        left = {theirs, row["asset_id"] if row["own_asset"] else None}
        again = same and before is not None and before.item_id != work.item.id
        return {
            "document_id": put["id"], "fingerprint": fingerprint, "unchanged": again, "superseded": False,
            "left": sorted(one for one in left - {own["asset_id"]} if one is not None),
        }  # fmt: skip

    return await work.ctx.transact(unit)


def _as_of(work: Work, before: Document | None) -> str:
    """When this content was given to us or fetched. Items may be read in any order, and retried days later; what is newer
    stays. A file that is only read again is as new as it was, and nothing where there is another by now."""
    fetched = work.output(FETCHED)
    if fetched["own"]:
        return str(fetched["asset_id"])
    if work.run.kind != REINGEST or before is None:
        return work.item.id
    return before.as_of if before.asset_id == fetched["asset_id"] else _OLDEST


async def _left_out(tx: Transaction, work: Work, newer: Document, row: Mapping[str, Any]) -> dict[str, Any]:
    await tx.change("document_holds_forget", ids=[work.item.id])
    await tx.change("document_item_outcome", id=work.item.id, document_id=newer.id, outcome=None)
    return {
        "document_id": newer.id, "fingerprint": newer.fingerprint, "unchanged": False, "superseded": True,
        "left": [row["asset_id"]] if row["own_asset"] else [],
    }  # fmt: skip


def _parts(work: Work) -> list[str]:
    """The results it is made of."""
    outputs = (work.outputs.get(name) or {} for name in (CONTENT_EXTRACTED, CHUNKED, EMBEDDED, ENTITY_EXTRACTED))
    found = (output.get("result") for output in outputs)
    return list(dict.fromkeys(one for one in found if one is not None))


def _row(work: Work, made: Mapping[str, Any], fingerprint: str) -> dict[str, Any]:
    fetched, content = work.output(FETCHED), work.output(CONTENT_EXTRACTED)
    title = " ".join(plain_text(content["title"] or "", 1000).split())
    text = to_json(dict(made))
    return {
        "tenant": work.tenant, "source": work.item.source, "name": fetched["name"], "title": title or fetched["name"],
        "kind": content["kind"], "media_type": content["media_type"], "language": content["language"],
        "unit": content["unit"], "method": content["method"], "pages": content["pages"],
        "characters": content["characters"], "passages": work.output(CHUNKED)["passages"],
        "embedded": work.output(EMBEDDED)["model"], "bytes": fetched["bytes"], "sha256": fetched["sha256"],
        "asset_id": fetched["asset_id"], "own_asset": fetched["own"], "address": work.item.address,
        "item_id": work.item.id, "run_id": work.run.id, "settings": to_json(work.run.settings | (work.item.settings or {})),
        "warnings": to_json(content["warnings"]), "made": text if len(text) <= _LONGEST_MADE else "{}",
        "fingerprint": fingerprint, "content": content["result"],
    }  # fmt: skip
