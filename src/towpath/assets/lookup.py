"""Assets in the database, found by their ids."""

from __future__ import annotations

from collections.abc import Iterable

from towpath import App, Context
from towpath.assets.errors import AssetNotFound
from towpath.assets.records import Asset, asset_from

_TOGETHER = 500


async def get(place: App | Context, tenant: str, asset_id: str) -> Asset:
    """The asset, if it is this tenant's. Raises `AssetNotFound` for another's as for none."""
    rows = await place.query("assets_by_id", ids=[asset_id.lower()], tenant=tenant)
    if not rows:
        raise AssetNotFound(asset_id)
    return asset_from(rows[0])


async def get_all(place: App | Context, tenant: str, asset_ids: Iterable[str]) -> dict[str, Asset]:
    """Those of them that there are and that are this tenant's, by their ids."""
    asked = sorted({one.lower() for one in asset_ids})
    found: dict[str, Asset] = {}
    for start in range(0, len(asked), _TOGETHER):
        rows = await place.query("assets_by_id", ids=asked[start : start + _TOGETHER], tenant=tenant)
        found |= {asset.id: asset for asset in map(asset_from, rows)}
    return found


async def page_described(app: App, tenant: str, meta: str, *, before: str, limit: int) -> list[Asset]:
    """A tenant's files that a product has described with an entry of this name, newest first."""
    asked = {"tenant": tenant, "meta": f'%"{meta}":%', "before": before, "limit": limit}
    return [asset_from(row) for row in await app.query("assets_page_described", **asked)]


async def get_of_any_tenant(place: App | Context, asset_id: str) -> Asset:
    """For administrators."""
    rows = await place.query("asset_of_any_tenant", id=asset_id.lower())
    if not rows:
        raise AssetNotFound(asset_id)
    return asset_from(rows[0])
