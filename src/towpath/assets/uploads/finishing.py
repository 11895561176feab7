"""The end of an upload: the parts become one file, and the file goes to whom it was sent for.

Every step can be done again. A server that dies here leaves the upload to the next one that tidies up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from towpath.assets.keeping import blob_folder, get, take_room
from towpath.assets.purposes import kinds_of, receiver_of
from towpath.assets.receiving import Intake, complete, content_key
from towpath.assets.records import Asset, Upload
from towpath.assets.uploads.creating import find, principal_of
from towpath.core.errors import Fatal, SchemaInvalid, StoreUnavailable
from towpath.engine.app import App
from towpath.http.problems import Problem, problem_of
from towpath.store.contract import Tx

_LEASE = timedelta(seconds=60)
_RENEWAL = 20.0


async def finish(app: App, upload_id: str) -> Upload | None:
    """Hands over an upload that is complete; answers it as it is then. Nothing happens if somebody else is at it.

    Raises what the file or its options are refused with; the upload has failed then, and its file is gone.
    """
    store = app.services.store
    upload = await find(store, upload_id)
    if upload is None or not await _claim(app, upload):
        return upload
    try:
        async with _held(app, upload):
            asset = await _assembled(app, upload)
            result = await receiver_of(upload.purpose)(app, principal_of(upload), asset, upload.options)
    except BaseException as error:
        if _is_final(error):
            await fail(app, upload, error)
        else:
            with suppress(Exception):
                await asyncio.shield(store.run(lambda tx: tx.execute("asset_upload_release", id=upload.id)))
        raise
    answer = json.dumps(result)
    await store.run(lambda tx: tx.execute("asset_upload_finish", id=upload.id, result=answer, now=tx.now))
    return await find(store, upload.id)


async def _claim(app: App, upload: Upload) -> bool:
    async def unit(tx: Tx) -> int:
        return await tx.execute("asset_upload_claim", id=upload.id, now=tx.now, until=tx.now + _LEASE)

    return bool(await app.services.store.run(unit))


@asynccontextmanager
async def _held(app: App, upload: Upload) -> AsyncIterator[None]:
    """Keeps the turn for as long as this takes, and no longer: a dead server's turn ends within a minute."""

    async def renewing() -> None:
        while True:
            await asyncio.sleep(_RENEWAL)
            with suppress(StoreUnavailable):
                await app.services.store.run(
                    lambda tx: tx.execute("asset_upload_hold", id=upload.id, until=tx.now + _LEASE, now=tx.now)
                )

    task = asyncio.create_task(renewing())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _assembled(app: App, upload: Upload) -> Asset:
    store, blobs = app.services.store, app.services.blobs
    asset = await get(store, upload.tenant, upload.id)
    if asset.state == "uploading":
        intake = Intake(asset.name, kinds_of(upload.purpose), 0)
        parts = await store.read(lambda tx: tx.fetch("asset_parts", id=upload.id))
        await blobs.put(content_key(upload.id), intake.pieces(_joined(app, [part["blob_key"] for part in parts])))
        await complete(app, upload.tenant, upload.id, intake, reserved=upload.length)
        asset = await get(store, upload.tenant, upload.id)
    await blobs.delete_prefix(f"{blob_folder(upload.id)}/parts")
    await store.run(lambda tx: tx.execute("asset_parts_forget", ids=[upload.id]))
    return asset


async def _joined(app: App, keys: list[str]) -> AsyncIterator[bytes]:
    for key in keys:
        async with aclosing(app.services.blobs.open(key)) as pieces:
            async for piece in pieces:
                yield piece


def _is_final(error: BaseException) -> bool:
    """The same file with the same options would be refused again."""
    if isinstance(error, Problem):
        return error.status < 500
    return isinstance(error, SchemaInvalid | Fatal)


async def fail(app: App, upload: Upload, error: BaseException) -> None:
    """Keeps why, for whoever asks, and gives the room back."""
    known = problem_of(error) if isinstance(error, Exception) else None
    why: dict[str, Any] = {"detail": str(error), "remedy": getattr(error, "remedy", None)}
    why |= {"status": known.status if known else 422}

    async def unit(tx: Tx) -> None:
        rows = await tx.fetch("assets_lock", ids=[upload.id], tenant=upload.tenant)
        if rows and await tx.execute("asset_upload_fail", id=upload.id, error=json.dumps(why), now=tx.now):
            await take_room(tx, upload.tenant, -rows[0]["bytes"], 0)
            await tx.execute("asset_failed", id=upload.id, now=tx.now)
            await tx.execute("asset_parts_forget", ids=[upload.id])

    await app.services.store.run(unit)
    await app.services.blobs.delete_prefix(blob_folder(upload.id))
