"""How many bytes a tenant's files take up, and the quota on that, which holds while files arrive and not only at their end.

The count is changed in the transaction of whatever changes the files, so it cannot drift, and two uploads at once cannot
both take the last bytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from towpath import App, Transaction
from towpath.assets.errors import abandoned, over_quota
from towpath.assets.records import Usage

STEP = 1024 * 1024
"""Of a file that is on its way, so much is counted at a time."""


async def usage(app: App, tenant: str) -> Usage:
    rows = await app.query("asset_usage", tenant=tenant)
    used, count = (rows[0]["bytes"], rows[0]["assets"]) if rows else (0, 0)
    return Usage(used, count, app.settings.upload_quota_bytes)


async def check_quota(app: App, tenant: str) -> None:
    """A tenant that is full is told before it sends anything."""
    used = await usage(app, tenant)
    if used.quota and used.bytes >= used.quota:
        raise over_quota(used.bytes, used.quota, None)


async def count_against_quota(
    tx: Transaction, tenant: str, size: int, quota: int, *, assets: int = 0, whole: bool = True
) -> None:
    """Counts so many bytes more, or less. Raises `AssetRefused` if that is over the quota.

    `whole`: these are all bytes of the file, and can be told as its size.
    """
    if await tx.change("asset_usage_change", tenant=tenant, bytes=size, assets=assets, quota=quota):
        return
    await tx.change("asset_usage_begin", tenant=tenant)
    if not await tx.change("asset_usage_change", tenant=tenant, bytes=size, assets=assets, quota=quota):
        rows = await tx.query("asset_usage", tenant=tenant)
        raise over_quota(rows[0]["bytes"], quota, size if whole else None)


class Reserving:
    """Counts what has come before it is written, so that files under way count against the quota, several at once together.

    Without a quota nobody needs to know before the end.
    """

    def __init__(self, app: App, tenant: str, asset_id: str) -> None:
        self._app, self._tenant, self._id = app, tenant, asset_id
        self.bytes = 0

    async def pieces(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        held = bytearray()
        async for piece in stream:
            if not self._app.settings.upload_quota_bytes:
                yield piece
                continue
            held += piece
            if len(held) >= STEP:
                yield await self._counted(held)
                held = bytearray()
        if held:
            yield await self._counted(held)

    async def _counted(self, held: bytearray) -> bytes:
        async def unit(tx: Transaction) -> None:
            await count_against_quota(tx, self._tenant, len(held), self._app.settings.upload_quota_bytes, whole=False)
            if not await tx.change("asset_grow", id=self._id, bytes=len(held), now=tx.now):
                raise abandoned()

        await self._app.transact(unit)
        self.bytes += len(held)
        return bytes(held)
