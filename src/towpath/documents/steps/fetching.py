"""FETCHED: the file is here, whoever had it before."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from towpath import RateLimited, SchemaInvalid, assets
from towpath.documents.work import Work
from towpath.outbound.sources import open_source

MARK = "document_item"
"""In what is noted of a file that was fetched: the item that it was fetched for."""


async def fetch(work: Work) -> dict[str, Any]:
    asset = await (_asked(work) if work.item.address is None else _fetched(work, work.item.address))
    own = work.item.address is not None
    return {"asset_id": asset.id, "name": asset.name, "bytes": asset.bytes, "sha256": asset.sha256, "own": own}


async def _asked(work: Work) -> assets.Asset:
    asset = await assets.get(work.ctx, work.tenant, work.item.asset_id or "")
    if asset.state != "ready":
        raise SchemaInvalid(f"the upload of {asset.name!r} did not come to its end", remedy="send the file again")
    return asset


async def _fetched(work: Work, address: str) -> assets.Asset:
    """Whoever tells us to wait is left alone by all documents of the tenant that come from there."""
    settings = work.ctx.settings
    limit = settings.max_upload_bytes or None
    budget = f"fetch:{work.tenant}:{urlsplit(address).netloc}"
    await work.ctx.budget(budget)
    try:
        async with open_source(settings, address, tenant=work.tenant, limit=limit) as source:
            return await assets.receive(
                work.app, work.tenant, source.name, aiter(source), kinds=None, created_by=work.run.created_by,
                meta={MARK: work.item.id},
            )  # fmt: skip
    except RateLimited as error:
        raise RateLimited(str(error), retry_after=error.retry_after, budget=budget) from None
