"""Uploads that are complete, and that nobody hands over: their job was removed, pruned or cancelled.

The last byte brings a job along, and in the normal course of things that one ends the upload. But people delete and cancel
jobs, and those that failed are pruned one day. A job that failed and is still there waits in the inbox, and the file with
it.
"""

from __future__ import annotations

from functools import partial

from towpath import App, Row
from towpath.assets.errors import handing_over_cancelled
from towpath.assets.keys import FINISH, SUBJECT
from towpath.assets.uploads.creating import find
from towpath.assets.uploads.finishing import enqueue_finish
from towpath.assets.uploads.refusing import refuse


async def resume(app: App, limit: int) -> int:
    """Gives each a job again; what somebody has stopped fails, and says so. Answers how many there were."""
    rows = await app.query("asset_uploads_left", kind=SUBJECT, operation=FINISH, limit=limit)
    for row in rows:
        await _resume(app, row)
    return len(rows)


async def _resume(app: App, row: Row) -> None:
    upload = await find(app, row["id"])
    if upload is None or upload.finished_at is not None:
        return
    if row["state"] == "cancelled":
        await refuse(app, upload, handing_over_cancelled())
    else:
        await app.transact(partial(enqueue_finish, upload_id=upload.id, tenant=upload.tenant))  # by its key two are one
