"""What lies below a folder of a bucket, an item for each object."""

from __future__ import annotations

from typing import Any

from towpath import Context, SchemaInvalid, Transaction
from towpath.documents.intake import MOST_LISTED, new_item
from towpath.documents.records import Run
from towpath.outbound.listing import list_folder

_TOGETHER = 500


async def list_bucket(ctx: Context, run: Run) -> dict[str, Any]:
    """Items have ids of their own place, so a second try makes none twice."""
    found: list[dict[str, Any]] = []
    for uri in run.settings["folders"]:
        async for address in list_folder(ctx.settings, uri, tenant=run.tenant):
            found.append(new_item(run.id, run.tenant, len(found), address=address))
            if len(found) > MOST_LISTED:
                raise SchemaInvalid(
                    f"there are more than {MOST_LISTED:,} objects below these folders", remedy="give folders below them"
                )
    for start in range(0, len(found), _TOGETHER):
        part = found[start : start + _TOGETHER]
        await ctx.transact(lambda tx, part=part: tx.change_many("document_item_add", part))  # type: ignore[misc]

    async def counted(tx: Transaction) -> None:
        await tx.change("document_run_counted", id=run.id, count=len(found))

    await ctx.transact(counted)
    return {"items": len(found)}
