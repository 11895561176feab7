"""A file that is about to come, and one that has come. Its row is there before its blob, so that whatever a crash leaves is
known by its row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from towpath import Settings, Transaction, new_id
from towpath.assets.errors import abandoned, too_many_open
from towpath.assets.intake import Intake
from towpath.assets.keys import content_key
from towpath.assets.quota import count_against_quota


@dataclass(frozen=True, slots=True)
class NewAsset:
    tenant: str
    name: str
    reserved: int
    created_by: str | None
    meta: Mapping[str, Any]
    id: str = field(default_factory=new_id)


async def add(tx: Transaction, new: NewAsset, settings: Settings) -> None:
    """Raises `AssetRefused` if there is no room for what it reserves, or whoever sends it has too many on the way."""
    # This also locks the tenant's count, so that of several that come at once each sees those before it.
    await count_against_quota(tx, new.tenant, new.reserved, settings.upload_quota_bytes, assets=1)
    most = settings.open_uploads_per_account
    if most:
        [found] = await tx.query("assets_open", tenant=new.tenant, account=new.created_by or "")
        if found["open"] >= most:
            raise too_many_open(most)
    await tx.change(
        "asset_add", id=new.id, tenant=new.tenant, name=new.name, bytes=new.reserved, blob_key=content_key(new.id),
        meta=json.dumps(dict(new.meta)), created_by=new.created_by, now=tx.now,
    )  # fmt: skip


async def describe(tx: Transaction, asset_id: str, meta: Mapping[str, Any]) -> None:
    """What a product wants to know of its file later, and did not know yet when the first byte came."""
    await tx.change("asset_describe", id=asset_id, meta=json.dumps(dict(meta)))


@dataclass(frozen=True, slots=True)
class Stored:
    """A file whose content has come. It is an asset when it has been made ready, or is to be deleted."""

    id: str
    tenant: str
    intake: Intake
    reserved: int


async def make_ready(tx: Transaction, stored: Stored, quota: int) -> None:
    """Its room is taken for good, or refused if somebody else took it meanwhile."""
    intake = stored.intake
    await count_against_quota(tx, stored.tenant, intake.bytes - stored.reserved, quota)
    ready = await tx.change(
        "asset_ready", id=stored.id, media_type=intake.kind.media_type, kind=intake.kind.name, bytes=intake.bytes,
        sha256=intake.sha256, now=tx.now,
    )  # fmt: skip
    if not ready:
        raise abandoned()
