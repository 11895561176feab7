"""An upload that comes to nothing: why is kept for whoever asks, and its room is given back."""

from __future__ import annotations

import json
from typing import Any

from towpath import App, Context, Fatal, SchemaInvalid, Transaction
from towpath.assets.errors import AssetRefused
from towpath.assets.keys import folder_of
from towpath.assets.quota import count_against_quota
from towpath.assets.records import Upload


async def refuse(place: App | Context, upload: Upload, error: SchemaInvalid | Fatal) -> None:
    """Ends it with what the file or its options were refused for; nothing of the file is left.

    Unless it has gone on meanwhile: then what was refused are not its bytes, and it is left alone.
    """
    kept = json.dumps(_kept(error))

    async def unit(tx: Transaction) -> bool:
        rows = await tx.query("assets_lock", ids=[upload.id], tenant=upload.tenant)
        stands = rows and await tx.change(
            "asset_upload_fail", id=upload.id, received=upload.received, error=kept, now=tx.now
        )  # fmt: skip
        if not stands:
            return False
        await count_against_quota(tx, upload.tenant, -rows[0]["bytes"], 0)
        await tx.change("asset_failed", id=upload.id, now=tx.now)
        await tx.change("asset_parts_forget", ids=[upload.id])
        return True

    if await place.transact(unit):
        await place.blobs.delete_prefix(folder_of(upload.id))


def _kept(error: SchemaInvalid | Fatal) -> dict[str, Any]:
    why = error.why if isinstance(error, AssetRefused) else "unfit"
    path = error.path if isinstance(error, SchemaInvalid) else None
    return {"why": why, "detail": str(error), "remedy": error.remedy, "path": path}


def refusal_of(kept: dict[str, Any]) -> AssetRefused:
    """The error again, as it was kept."""
    path = kept["path"]
    message = kept["detail"].removeprefix(f"{path}: ") if path else kept["detail"]
    return AssetRefused(message, remedy=kept["remedy"], why=kept["why"], path=path)
