"""The end of an upload, as a job: the parts become one file, and the file goes to whom it was sent for.

The job commits with the last byte, so whoever dies after that, another worker does it. Every step can be done again, and
what is written is fenced by the job: of two workers that both believe to have it, one counts.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from towpath import App, Context, Fatal, Job, RetryLater, SchemaInvalid, State, Transaction
from towpath.assets.errors import AssetRefused, abandoned
from towpath.assets.intake import Intake, Kinds
from towpath.assets.keys import FINISH, SUBJECT, content_key, parts_of
from towpath.assets.lookup import get
from towpath.assets.new_asset import Stored, make_ready
from towpath.assets.purposes import Arrival, Purpose, purpose_of
from towpath.assets.records import Asset, Upload
from towpath.assets.uploads.creating import find
from towpath.assets.uploads.refusing import refuse

QUEUE = "uploads"
_SOMEBODY_ELSE = 5.0


async def enqueue_finish(tx: Transaction, upload_id: str, tenant: str) -> str:
    """Answers the job's id."""
    subject = (SUBJECT, upload_id)
    return await tx.enqueue(FINISH, {"upload_id": upload_id}, tenant=tenant, key=upload_id, subject=subject)


async def unfinished(app: App) -> bool:
    """Whether any upload has all its bytes and waits to be handed over."""
    return bool(await app.query("asset_uploads_complete"))


async def being_finished(app: App, upload_id: str) -> bool:
    """Whether a job is at it that has not ended."""
    return any(job.live for job in await _jobs_at(app, upload_id))


async def failed_job(app: App, upload_id: str) -> Job | None:
    """The job that was to hand it over, if it has failed: it waits in the inbox, and the file with it."""
    newest = next(reversed(await _jobs_at(app, upload_id)), None)
    return newest if newest is not None and newest.state is State.FAILED else None


async def _jobs_at(app: App, upload_id: str) -> list[Job]:
    """Oldest first."""
    jobs = (await app.subjects.jobs(SUBJECT, [upload_id]))[upload_id]
    return [job for job in jobs if job.operation == FINISH]


async def finish(app: App, ctx: Context, upload_id: str) -> dict[str, Any]:
    """What the receiver made of it. A file or an option that is refused ends the upload with the reason, and the job is
    done: whoever sent it is told, and there is nothing for anybody else to do."""
    upload = await find(app, upload_id)
    if upload is None:
        return {"given_up": True}
    if upload.finished_at is not None:
        return upload.result or {"refused": (upload.error or {}).get("detail")}
    try:
        purpose = purpose_of(app, upload.purpose)
    except AssetRefused as unknown:  # by this process: its app is another one than that of the server which took it
        raise RetryLater(f"this worker's app cannot hand it over: {unknown}", _SOMEBODY_ELSE) from None
    try:
        arrival = Arrival(upload.sender, await _assembled(ctx, upload, purpose.kinds), upload.options)
        arrival = replace(arrival, prepared=await purpose.prepare(ctx, arrival))
        return await ctx.transact(lambda tx: _hand_over(tx, purpose, arrival))
    except (SchemaInvalid, Fatal) as refused:
        await refuse(ctx, upload, refused)
        return {"refused": str(refused)}


async def _hand_over(tx: Transaction, purpose: Purpose, arrival: Arrival) -> dict[str, Any]:
    """What the receiver makes of it and the end of the upload, or neither."""
    result = await purpose.receive(tx, arrival)
    if not await tx.change("asset_upload_finish", id=arrival.asset.id, result=json.dumps(result), now=tx.now):
        raise abandoned()
    return result


async def _assembled(ctx: Context, upload: Upload, kinds: Kinds) -> Asset:
    """A file that came in one piece is ready already; so is one that an earlier attempt has put together."""
    asset = await get(ctx, upload.tenant, upload.id)
    if asset.state == "uploading":
        intake = Intake(asset.name, kinds)
        parts = await ctx.query("asset_parts", id=upload.id)
        await ctx.blobs.put(
            content_key(upload.id), intake.pieces(_joined(ctx, [part["blob_key"] for part in parts], upload))
        )
        stored = Stored(upload.id, upload.tenant, intake, reserved=upload.length)
        await ctx.transact(lambda tx: make_ready(tx, stored, 0))  # its room was taken when it began
        asset = await get(ctx, upload.tenant, upload.id)
    await ctx.blobs.delete_prefix(parts_of(upload.id))
    await ctx.transact(lambda tx: tx.change("asset_parts_forget", ids=[upload.id]))
    return asset


async def _joined(ctx: Context, keys: Sequence[str], upload: Upload) -> AsyncIterator[bytes]:
    done = 0
    for key in keys:
        async with aclosing(ctx.blobs.open(key)) as pieces:
            async for piece in pieces:
                yield piece
                done += len(piece)
                await ctx.progress(done, upload.length)
