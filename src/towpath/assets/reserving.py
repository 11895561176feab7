"""A quota holds while files arrive, not only when they are there."""

from __future__ import annotations

from collections.abc import AsyncIterator

from towpath.assets.errors import abandoned
from towpath.assets.keeping import take_room
from towpath.engine.app import App
from towpath.store.contract import Tx

STEP = 1024 * 1024
"""Of a file that is on its way, so much is counted at a time."""


class Reserving:
    """Takes the room for what has come before it is written, so that files under way count, several at once together.

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
        async def unit(tx: Tx) -> None:
            await take_room(tx, self._tenant, len(held), self._app.settings.upload_quota_bytes, whole=False)
            if not await tx.execute("asset_grow", id=self._id, bytes=len(held), now=tx.now):
                raise abandoned()

        await self._app.services.store.run(unit)
        self.bytes += len(held)
        return bytes(held)
