"""How an upload ended, for whoever sent it and waits to hear."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from towpath import App, JobNotFound
from towpath.assets.records import Upload
from towpath.assets.uploads.creating import find
from towpath.assets.uploads.refusing import refusal_of

_PUT_OFF = frozenset({"job.retry_scheduled", "job.retry_later"})


async def ended(app: App, upload_id: str, job_id: str, within: float) -> Upload | None:
    """The upload once it has been handed over; None if that takes longer, or is put off: its job goes on by itself.

    Raises `AssetRefused` with what it was refused for.
    """
    with suppress(TimeoutError, JobNotFound):
        async with asyncio.timeout(within):
            await _until_ended(app, job_id)
    upload = await find(app, upload_id)
    if upload is not None and upload.error is not None:
        raise refusal_of(upload.error)
    return upload if upload is not None and upload.finished_at is not None else None


async def _until_ended(app: App, job_id: str) -> None:
    async for event in app.events(job_id=job_id, follow=True):
        if event.name in _PUT_OFF:
            return
