"""New uploads. What can be refused is refused here, before anybody sends gigabytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from towpath import App, Transaction
from towpath.assets.errors import AssetRefused, too_large
from towpath.assets.naming import shown_name
from towpath.assets.new_asset import NewAsset, add
from towpath.assets.purposes import purpose_of
from towpath.assets.records import Upload, upload_from
from towpath.assets.sender import Sender


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client says of the file it is going to send; `metadata` is how it said it."""

    length: int
    name: str
    purpose: str
    options: Mapping[str, str]
    metadata: str = ""


async def create(app: App, sender: Sender, wanted: Wanted) -> Upload:
    """Takes the room for the whole file. Raises `AssetRefused`, or what the purpose has against its options."""
    await purpose_of(app, wanted.purpose).check(app, sender, wanted.options)
    most = app.settings.max_upload_bytes
    if most and wanted.length > most:
        raise too_large(wanted.length, most)
    if wanted.length == 0:
        raise AssetRefused(f"{shown_name(wanted.name)!r} is empty", remedy="choose a file that has something in it")
    new = NewAsset(sender.tenant, shown_name(wanted.name), wanted.length, sender.account_id, {})

    async def unit(tx: Transaction) -> None:
        await add(tx, new, app.settings)
        await add_upload(tx, new.id, sender, wanted, received=0)

    await app.transact(unit)
    made = await find(app, new.id)
    assert made is not None
    return made


async def add_upload(tx: Transaction, upload_id: str, sender: Sender, wanted: Wanted, *, received: int) -> None:
    await tx.change(
        "asset_upload_add", id=upload_id, sender=sender.as_json(), length=wanted.length, received=received,
        purpose=wanted.purpose, options=json.dumps(dict(wanted.options)), metadata=wanted.metadata, now=tx.now,
    )  # fmt: skip


async def find(app: App, upload_id: str) -> Upload | None:
    rows = await app.query("asset_upload", id=upload_id.lower())
    return upload_from(rows[0]) if rows else None
