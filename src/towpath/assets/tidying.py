"""Looking after what was left half done: uploads nobody went on with, and what a killed server was in the middle of."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from towpath.assets.keeping import delete, forget
from towpath.assets.uploads.finishing import finish
from towpath.engine.app import App
from towpath.store.contract import Row, Tx

log = logging.getLogger("towpath.assets")
_BATCH = 100
_EVERY = 30.0
_GRACE = timedelta(minutes=5)


async def tidy(app: App) -> dict[str, int]:
    """One round, safe to be done by several servers at once; answers what was done."""
    keep = timedelta(hours=app.settings.keep_unfinished_uploads_hours)
    return {
        "finished": await _finish(app),
        "abandoned": await _abandoned(app, keep),
        "removed": await _removed(app),
        "forgotten": await _forget_ended(app, keep),
    }


async def _finish(app: App) -> int:
    async def unit(tx: Tx) -> list[str]:
        return [row["id"] for row in await tx.fetch("asset_uploads_unfinished", now=tx.now, limit=_BATCH)]

    done = 0
    for upload_id in await app.services.store.read(unit):
        try:
            await finish(app, upload_id)
            done += 1
        except Exception as error:  # one bad upload must not keep the others from being finished
            log.warning("the upload %s could not be finished: %s", upload_id, error)
    return done


async def _abandoned(app: App, keep: timedelta) -> int:
    async def unit(tx: Tx) -> list[Row]:
        return list(await tx.fetch("assets_abandoned", before=tx.now - keep, limit=_BATCH))

    return sum([await delete(app, row["tenant"], [row["id"]]) for row in await app.services.store.read(unit)])


async def _removed(app: App) -> int:
    async def unit(tx: Tx) -> list[str]:
        return [row["id"] for row in await tx.fetch("assets_removed", before=tx.now - _GRACE, limit=_BATCH)]

    ids = await app.services.store.read(unit)
    await forget(app, ids)
    return len(ids)


async def _forget_ended(app: App, keep: timedelta) -> int:
    """How an upload ended is told for a while; the file it became is not touched."""

    async def unit(tx: Tx) -> int:
        rows = await tx.fetch("asset_uploads_old", before=tx.now - keep, limit=_BATCH)
        return await tx.execute("asset_uploads_forget", ids=[row["id"] for row in rows]) if rows else 0

    return await app.services.store.run(unit)


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
