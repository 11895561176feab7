"""Assets in the database: found, counted, deleted.

Every change of what a tenant takes up is in the transaction of the change that causes it, so the count cannot drift, and
two uploads at once cannot both take the last room.
"""

from __future__ import annotations

from collections.abc import Sequence

from towpath.assets.errors import AssetNotFound, over_quota
from towpath.assets.records import Asset, Usage, asset_from
from towpath.engine.app import App
from towpath.store.contract import Store, Tx


def blob_folder(asset_id: str) -> str:
    """All that is stored of an asset lies below; nothing in it comes from a user."""
    return f"assets/{asset_id}"


async def get(store: Store, tenant: str, asset_id: str) -> Asset:
    """The asset, if it is this tenant's. Raises `AssetNotFound` for another's as for none."""
    rows = await store.read(lambda tx: tx.fetch("assets_by_id", ids=[asset_id.lower()], tenant=tenant))
    if not rows:
        raise AssetNotFound(asset_id)
    return asset_from(rows[0])


async def get_of_any_tenant(store: Store, asset_id: str) -> Asset:
    """For administrators."""
    rows = await store.read(lambda tx: tx.fetch("asset_of_any_tenant", id=asset_id.lower()))
    if not rows:
        raise AssetNotFound(asset_id)
    return asset_from(rows[0])


async def usage(app: App, tenant: str) -> Usage:
    rows = await app.services.store.read(lambda tx: tx.fetch("asset_usage", tenant=tenant))
    used, count = (rows[0]["bytes"], rows[0]["assets"]) if rows else (0, 0)
    return Usage(used, count, app.settings.upload_quota_bytes)


async def take_room(tx: Tx, tenant: str, size: int, quota: int, *, assets: int = 0, whole: bool = True) -> None:
    """Counts so many bytes more, or less. Raises `AssetRefused` if that is over the quota.

    `whole`: these are all bytes of the file, and can be told as its size.
    """
    if await tx.execute("asset_usage_change", tenant=tenant, bytes=size, assets=assets, quota=quota):
        return
    await tx.execute("asset_usage_begin", tenant=tenant)
    if not await tx.execute("asset_usage_change", tenant=tenant, bytes=size, assets=assets, quota=quota):
        rows = await tx.fetch("asset_usage", tenant=tenant)
        raise over_quota(rows[0]["bytes"], quota, size if whole else None)


async def delete(app: App, tenant: str, ids: Sequence[str]) -> int:
    """Deletes files with everything stored of them; answers how many there were. Unknown and foreign ids are passed over.

    They are gone for everybody at once. Should the process die before the blobs are, `tidy` deletes the rest.
    """
    wanted = [one.lower() for one in ids]

    async def unit(tx: Tx) -> list[str]:
        rows = await tx.fetch("assets_lock", ids=wanted, tenant=tenant)
        if rows:
            size = sum(row["bytes"] for row in rows)
            await take_room(tx, tenant, -size, 0, assets=-len(rows))
            await tx.execute("assets_remove", ids=[row["id"] for row in rows], now=tx.now)
        return [row["id"] for row in rows]

    found = await app.services.store.run(unit)
    await forget(app, found)
    return len(found)


async def forget(app: App, ids: Sequence[str]) -> None:
    """The blobs and then the rows of what has been removed; again is as good as once."""
    for one in ids:
        await app.services.blobs.delete_prefix(blob_folder(one))

    async def unit(tx: Tx) -> None:
        for query in ("asset_parts_forget", "asset_uploads_forget", "assets_forget"):
            await tx.execute(query, ids=list(ids))

    if ids:
        await app.services.store.run(unit)
