"""A file that comes as one stream, on its way to the blob store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from towpath import App
from towpath.assets.intake import Intake, Kinds
from towpath.assets.keys import content_key
from towpath.assets.lookup import get
from towpath.assets.naming import shown_name
from towpath.assets.new_asset import NewAsset, Stored, add, make_ready
from towpath.assets.quota import Reserving, check_quota
from towpath.assets.records import Asset
from towpath.assets.removal import delete


async def receive(
    app: App,
    tenant: str,
    name: str,
    stream: AsyncIterator[bytes],
    *,
    kinds: Kinds,
    created_by: str | None,
    meta: Mapping[str, Any] | None = None,
) -> Asset:
    """Stores a file for a tenant. `kinds` are the kinds that are taken (`assets.MEDIA`); None takes anything.

    Raises `AssetRefused` if it is too large, over the quota, or not of these kinds; whatever goes wrong, nothing is left.
    """
    stored = await store(app, tenant, name, stream, kinds=kinds, created_by=created_by, meta=meta)
    try:
        await app.transact(lambda tx: make_ready(tx, stored, app.settings.upload_quota_bytes))
        return await get(app, tenant, stored.id)
    except BaseException:
        await drop(app, stored)
        raise


async def store(
    app: App,
    tenant: str,
    name: str,
    stream: AsyncIterator[bytes],
    *,
    kinds: Kinds,
    created_by: str | None,
    meta: Mapping[str, Any] | None = None,
) -> Stored:
    """The content of a file, for whoever has more to say before it is an asset; then they make it ready, or drop it."""
    shown = shown_name(name)
    await check_quota(app, tenant)
    new = NewAsset(tenant, shown, 0, created_by, meta or {})
    await app.transact(lambda tx: add(tx, new, app.settings))
    intake = Intake(shown, kinds, app.settings.max_upload_bytes)
    reserving = Reserving(app, tenant, new.id)
    try:
        await app.blobs.put(content_key(new.id), reserving.pieces(intake.pieces(stream)))
    except BaseException:
        await drop(app, Stored(new.id, tenant, intake, reserving.bytes))
        raise
    return Stored(new.id, tenant, intake, reserving.bytes)


async def drop(app: App, stored: Stored) -> None:
    """Also when the caller is cancelled: the clean-up goes on, and what a kill prevents is done by `tidy`."""
    with suppress(Exception):
        await asyncio.shield(delete(app, stored.tenant, [stored.id]))
