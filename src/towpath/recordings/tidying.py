"""What is deleted by itself, and only where a setting says so: old recordings, and uploads that failed for good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from towpath import App, Context, Reading, first_id_at
from towpath.recordings.removing import remove
from towpath.recordings.stored import by_ids

_BATCH = 200


def wanted(app: App) -> bool:
    return app.settings.delete_failed_uploads or app.settings.keep_recordings_days > 0


async def tidy(app: App, ctx: Context) -> dict[str, int]:
    return {"too_old": await _too_old(app), "failed": await _failed(app)}


async def _too_old(app: App) -> int:
    days = app.settings.keep_recordings_days
    if not days:
        return 0

    async def unit(tx: Reading) -> list[str]:
        before = first_id_at(tx.now - timedelta(days=days))
        return [row["id"] for row in await tx.query("recordings_older", before=before, limit=_BATCH)]

    return await _remove_all(app, unit)


async def _failed(app: App) -> int:
    if not app.settings.delete_failed_uploads:
        return 0

    async def unit(tx: Reading) -> list[str]:
        return [row["id"] for row in await tx.query("recordings_failed_uploads", limit=_BATCH)]

    return await _remove_all(app, unit)


async def _remove_all(app: App, unit: Callable[[Reading], Awaitable[list[str]]]) -> int:
    gone = 0
    while ids := await app.read(unit):
        gone += await remove(app, await by_ids(app, ids))
    return gone
