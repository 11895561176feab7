"""Deleting recordings: their jobs first, then the recording, then its audio.

It begins with a mark, from which on the recording is gone for everybody. Should the process die in between, or a handler
take its time to stop, a job that was queued together with the mark finishes what was begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath.assets import delete as delete_assets
from towpath.core.outcomes import RetryLater
from towpath.engine import deleting
from towpath.engine.app import App
from towpath.engine.context import Context
from towpath.recordings.names import REMOVE
from towpath.recordings.records import Recording
from towpath.store.contract import Tx

_LATER = 5.0
_TABLES = (
    "shares_delete", "summaries_delete", "unplaced_edits_delete", "transcript_lines_delete", "transcripts_delete",
    "recording_jobs_delete", "recordings_delete",
)  # fmt: skip


async def remove(app: App, recordings: Sequence[Recording]) -> int:
    """Deletes them, whatever is being done with them; answers how many. They are out of sight at once."""
    by_tenant: dict[str, dict[str, str]] = {}
    for recording in recordings:
        by_tenant.setdefault(recording.tenant, {})[recording.id] = recording.asset_id
    return sum([await _remove_of(app, tenant, found) for tenant, found in by_tenant.items()])


async def _remove_of(app: App, tenant: str, assets_of: dict[str, str]) -> int:
    job = app.services.new_job(REMOVE, {"recordings": assets_of}, tenant=tenant, delay=_LATER)

    async def unit(tx: Tx) -> int:
        marked = await tx.execute("recordings_remove", ids=list(assets_of), now=tx.now)
        if marked:
            await tx.insert_jobs([job])
        return marked

    marked = await app.services.store.run(unit)
    if marked and not await _finish(app, tenant, assets_of):
        await deleting.remove(app.services, [job.id])  # nothing is left for it to do
    return marked


async def remove_later(app: App, ctx: Context, payload: dict[str, Any]) -> int:
    """What `remove` began."""
    left = await _finish(app, ctx.tenant, payload["recordings"])
    if left:
        raise RetryLater(f"{len(left)} recordings have jobs whose handlers have not ended yet", _LATER)
    return len(payload["recordings"])


async def _finish(app: App, tenant: str, assets_of: dict[str, str]) -> list[str]:
    """Each as far as it can go, over and over if need be; answers those that have to wait for a handler."""
    left = []
    for recording_id, asset_id in assets_of.items():
        if await _without_jobs(app, recording_id):
            await app.services.store.run(lambda tx, ids=[recording_id]: _forget(tx, ids))  # type: ignore[misc]  # binds the loop's value
            await delete_assets(app, tenant, [asset_id])
        else:
            left.append(recording_id)
    return left


async def _without_jobs(app: App, recording_id: str) -> bool:
    links = await app.services.store.read(lambda tx: tx.fetch("recording_jobs", ids=[recording_id]))
    removed = await deleting.remove(app.services, [str(link["job_id"]) for link in links])
    return all(why == "not found" for why in removed.refused.values())


async def _forget(tx: Tx, ids: list[str]) -> None:
    for query in _TABLES:
        await tx.execute(query, ids=ids)
