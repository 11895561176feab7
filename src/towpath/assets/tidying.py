"""Looking after what was left half done: uploads nobody goes on with or hands over, and deletions that were interrupted."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from towpath import App, Reading, Row, Transaction
from towpath.assets.removal import delete, forget
from towpath.assets.uploads.resuming import resume

log = logging.getLogger("towpath.assets")
_BATCH = 100
_EVERY = 30.0
_GRACE = timedelta(minutes=5)


async def tidy(app: App) -> dict[str, int]:
    """One round, safe to be done by several servers at once; answers what was done."""
    keep = timedelta(hours=app.settings.keep_unfinished_uploads_hours)
    return {
        "abandoned": await _abandoned(app, keep),
        "removed": await _removed(app),
        "forgotten": await _forget_ended(app, keep),
        "resumed": await resume(app, _BATCH),
    }


async def _abandoned(app: App, keep: timedelta) -> int:
    async def unit(now: Reading) -> list[Row]:
        return list(await now.query("assets_abandoned", before=now.now - keep, limit=_BATCH))

    return sum([await delete(app, row["tenant"], [row["id"]]) for row in await app.read(unit)])


async def _removed(app: App) -> int:
    async def unit(now: Reading) -> list[str]:
        return [row["id"] for row in await now.query("assets_removed", before=now.now - _GRACE, limit=_BATCH)]

    ids = await app.read(unit)
    await forget(app, ids)
    return len(ids)


async def _forget_ended(app: App, keep: timedelta) -> int:
    """How an upload ended is told for a while; the file it became is not touched."""

    async def unit(tx: Transaction) -> int:
        rows = await tx.query("asset_uploads_old", before=tx.now - keep, limit=_BATCH)
        return await tx.change("asset_uploads_forget", ids=[row["id"] for row in rows]) if rows else 0

    return await app.transact(unit)


class Keeper:
    """Tidies at once, because a restart may have interrupted something, and then twice a minute."""

    def __init__(self, app: App, every: float = _EVERY) -> None:
        self._app, self._every = app, every
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="towpath-assets-keeper")

    async def stop(self) -> None:
        """Twice is as good as once."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while True:
            try:
                await tidy(self._app)
            except Exception:
                log.exception("tidying uploads failed; it is tried again in %g s", self._every)
            await asyncio.sleep(self._every)
