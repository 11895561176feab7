"""What steps make, kept by what it was made of: who comes with the same content, settings and models takes what is there.

A result is known by a digest of all of that and of its tenant. It stays as long as a document is made of it or an item that
is under way has it; `tidying` sweeps the rest.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from towpath import App, Context, Fatal, Transaction, from_json, new_id, to_json
from towpath.documents.names import RESULTS
from towpath.search import Page

if TYPE_CHECKING:
    from towpath.documents.work import Work

Make = Callable[[], Awaitable[tuple[bytes, Mapping[str, Any]]]]
"""Answers the body of a result, and what is to be known of it without reading that."""
_INLINE = 16 * 1024
_BETWEEN_PAGES = 2


def digest(*made_of: Any) -> str:
    return hashlib.sha256(json.dumps(made_of, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:40]


async def once(work: Work, step: str, made_of: Sequence[Any], make: Make) -> dict[str, Any]:
    """The output of a step: the result's id with its facts, and whether somebody else had made it before."""
    ctx, tenant, holder = work.ctx, work.tenant, work.item.id
    result_id = digest(tenant, step, *made_of)

    async def held(tx: Transaction) -> dict[str, Any] | None:
        if not await tx.change("document_result_touch", id=result_id, now=tx.now):
            return None
        [row] = await tx.query("document_result", id=result_id, tenant=tenant)
        await tx.change("document_hold_add", holder_id=holder, result_id=result_id)
        facts: dict[str, Any] = from_json(row["facts"])
        return facts

    found = await ctx.transact(held)
    if found is not None:
        return found | {"result": result_id, "reused": found.pop("by", None) != holder}
    body, facts = await make()
    blob = None if len(body) <= _INLINE else f"{RESULTS}/{result_id}/{new_id()}"
    if blob is not None:
        await ctx.blobs.put(blob, body)
    text = to_json({**facts, "by": holder})

    async def kept(tx: Transaction) -> bool:
        added = await tx.change(
            "document_result_add", id=result_id, tenant=tenant, step=step, body=body if blob is None else None, blob=blob,
            facts=text, now=tx.now,
        )  # fmt: skip
        await tx.change("document_result_touch", id=result_id, now=tx.now)
        await tx.change("document_hold_add", holder_id=holder, result_id=result_id)
        return bool(added)

    if not await ctx.transact(kept) and blob is not None:
        await ctx.blobs.delete(blob)  # somebody with the same content was faster
    return {**facts, "result": result_id, "reused": False}


async def body(place: App | Context, tenant: str, result_id: str) -> bytes:
    rows = await place.query("document_result", id=result_id, tenant=tenant)
    if not rows:
        raise Fatal("what was read of this document is gone", remedy="read it again: make a new run of it")
    row = rows[0]
    return bytes(row["body"]) if row["blob"] is None else await place.blobs.get(row["blob"])


def packed(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"), 1)


def unpacked(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def pages_from(data: bytes) -> list[Page]:
    pages: list[Page] = []
    offset = 0
    for number, text in unpacked(data):
        pages.append(Page(text, number, offset))
        offset += len(text) + _BETWEEN_PAGES
    return pages
