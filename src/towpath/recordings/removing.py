"""Deleting recordings: their jobs first, then the recording, then its audio.

It begins with a mark, from which on the recording is gone for everybody. Should the process die in between, or a handler
take its time to stop, a job that was queued together with the mark finishes what was begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath import App, Context, RetryLater, Transaction, search
from towpath.assets import delete as delete_assets
from towpath.recordings.indexing import forgotten
from towpath.recordings.names import KIND, REMOVE
from towpath.recordings.records import Recording

_LATER = 5.0
_TABLES = (
    "shares_delete", "summaries_delete", "unplaced_edits_delete", "speakers_delete", "transcript_lines_delete",
    "transcripts_delete", "recording_tags_delete", "recordings_delete",
)  # fmt: skip


async def remove(app: App, recordings: Sequence[Recording]) -> int:
    """Deletes them, whatever is being done with them; answers how many. They are out of sight at once."""
    by_tenant: dict[str, dict[str, str]] = {}
    for recording in recordings:
        by_tenant.setdefault(recording.tenant, {})[recording.id] = recording.asset_id
    return sum([await _remove_of(app, tenant, found) for tenant, found in by_tenant.items()])


async def _remove_of(app: App, tenant: str, assets_of: dict[str, str]) -> int:
    async def unit(tx: Transaction) -> tuple[int, str | None]:
        marked = await tx.change("recordings_remove", ids=list(assets_of), now=tx.now)
        await forgotten(tx, tenant, list(assets_of))
        await tx.tell(KIND, *assets_of, tenant=tenant)
        later = await tx.enqueue(REMOVE, {"recordings": assets_of}, tenant=tenant, delay=_LATER) if marked else None
        return marked, later

    marked, later = await app.transact(unit)
    if later is not None and not await _finish(app, tenant, assets_of):
        await app.remove([later])  # nothing is left for it to do
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
            await app.transact(lambda tx, ids=[recording_id]: _forget(tx, ids))  # type: ignore[misc]  # binds the loop's value
            await delete_assets(app, tenant, [asset_id])
        else:
            left.append(recording_id)
    return left


async def _without_jobs(app: App, recording_id: str) -> bool:
    """Those that work on it, and what was asked about it."""
    gone = [await app.subjects.delete(kind, recording_id) for kind in (KIND, search.questions_about(KIND))]
    return all(why == "not found" for removed in gone for why in removed.refused.values())


async def _forget(tx: Transaction, ids: list[str]) -> None:
    for query in _TABLES:
        await tx.change(query, ids=ids)
