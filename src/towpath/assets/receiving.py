"""A file that comes as one stream: counted, sniffed and hashed on its way to the blob store, never held in memory."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from towpath.assets.errors import AssetRefused, abandoned, over_quota, too_large, too_many_open
from towpath.assets.keeping import blob_folder, delete, get, take_room, usage
from towpath.assets.naming import shown_name
from towpath.assets.records import Asset
from towpath.assets.reserving import Reserving
from towpath.assets.sniffing import HEAD, Kind, described, sniff
from towpath.config import Settings
from towpath.core.ids import uuid7
from towpath.engine.app import App
from towpath.store.contract import Tx

Kinds = Collection[str] | None


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
    shown = shown_name(name)
    await _check_room(app, tenant)
    new = NewAsset(tenant, shown, 0, created_by, meta or {})
    await app.services.store.run(lambda tx: add(tx, new, app.settings))
    try:
        intake = Intake(shown, kinds, app.settings.max_upload_bytes)
        reserving = Reserving(app, tenant, new.id)
        await app.services.blobs.put(content_key(new.id), reserving.pieces(intake.pieces(stream)))
        await complete(app, tenant, new.id, intake, reserved=reserving.bytes)
        return await get(app.services.store, tenant, new.id)
    except BaseException:
        # Also when the caller is cancelled: the clean-up goes on, and what a kill prevents is done by `tidy`.
        with suppress(Exception):
            await asyncio.shield(delete(app, tenant, [new.id]))
        raise


class Intake:
    """What passes through `pieces` is measured; a file that is refused breaks the stream off."""

    def __init__(self, name: str, kinds: Kinds, most: int) -> None:
        self._name, self._kinds, self._most = name, kinds, most
        self._hash = hashlib.sha256()
        self.bytes, self.kind = 0, Kind("", "")

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    async def pieces(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        head = b""
        async for piece in stream:
            self.bytes += len(piece)
            self._check_size()
            self._hash.update(piece)
            if self.kind.name:
                yield piece
                continue
            head += piece
            if len(head) >= HEAD:
                self.kind = checked_kind(self._name, head[:HEAD], self._kinds)
                yield head
        if not self.kind.name:
            self.kind = checked_kind(self._name, head, self._kinds)
            yield head

    def _check_size(self) -> None:
        if self._most and self.bytes > self._most:
            raise too_large(None, self._most)


def checked_kind(name: str, head: bytes, kinds: Kinds) -> Kind:
    """What the file is by its first bytes. Raises `AssetRefused` if that is none of the kinds."""
    if not head:
        raise AssetRefused(f"{name!r} is empty", remedy="check the file where it comes from, and send it again")
    found = sniff(head)
    if kinds is not None and found.name not in kinds:
        raise AssetRefused(
            f"{name!r} is {described(head)}, not {_listed(kinds)}",
            remedy="choose the recording itself, or convert it to one of these formats",
        )
    return found


def _listed(kinds: Collection[str]) -> str:
    names = sorted(kinds)
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def content_key(asset_id: str) -> str:
    return f"{blob_folder(asset_id)}/content"


async def _check_room(app: App, tenant: str) -> None:
    """A tenant that is full is told before it sends anything."""
    used = await usage(app, tenant)
    if used.quota and used.bytes >= used.quota:
        raise over_quota(used.bytes, used.quota, None)


@dataclass(frozen=True, slots=True)
class NewAsset:
    """A file that is about to come. Its row comes before its blob, so that whatever a crash leaves is known by its row."""

    tenant: str
    name: str
    reserved: int
    created_by: str | None
    meta: Mapping[str, Any]
    id: str = field(default_factory=uuid7)


async def add(tx: Tx, new: NewAsset, settings: Settings) -> None:
    """Raises `AssetRefused` if there is no room for what it reserves, or whoever sends it has too many on the way."""
    # This also locks the tenant's count, so that of several that come at once each sees those before it.
    await take_room(tx, new.tenant, new.reserved, settings.upload_quota_bytes, assets=1)
    most = settings.open_uploads_per_account
    if most:
        [found] = await tx.fetch("assets_open", tenant=new.tenant, account=new.created_by or "")
        if found["open"] >= most:
            raise too_many_open(most)
    await tx.execute(
        "asset_add", id=new.id, tenant=new.tenant, name=new.name, bytes=new.reserved, blob_key=content_key(new.id),
        meta=json.dumps(dict(new.meta)), created_by=new.created_by, now=tx.now,
    )  # fmt: skip


async def complete(app: App, tenant: str, asset_id: str, intake: Intake, *, reserved: int) -> None:
    """The file is there; its room is taken for good, or refused if somebody else took it meanwhile."""
    kind = intake.kind

    async def unit(tx: Tx) -> bool:
        await take_room(tx, tenant, intake.bytes - reserved, app.settings.upload_quota_bytes)
        ready = await tx.execute(
            "asset_ready", id=asset_id, media_type=kind.media_type, kind=kind.name, bytes=intake.bytes,
            sha256=intake.sha256, now=tx.now,
        )  # fmt: skip
        if not ready:
            raise abandoned()
        return True

    await app.services.store.run(unit)
