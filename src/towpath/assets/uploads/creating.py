"""New uploads. What can be refused is refused here, before anybody sends gigabytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from towpath.assets.errors import AssetRefused, too_large
from towpath.assets.naming import shown_name
from towpath.assets.purposes import checks, receiver_of
from towpath.assets.receiving import NewAsset, add
from towpath.assets.records import Upload, upload_from
from towpath.engine.app import App
from towpath.http.principal import Principal
from towpath.store.contract import Store, Tx


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client says of the file it is going to send; `metadata` is how it said it."""

    length: int
    name: str
    purpose: str
    options: Mapping[str, str]
    metadata: str = ""


async def create(app: App, principal: Principal, wanted: Wanted) -> Upload:
    """Takes the room for the whole file. Raises `AssetRefused`, or what the purpose has against its options."""
    receiver_of(wanted.purpose)
    if check := checks.get(wanted.purpose):
        check(app, principal, wanted.options)
    most = app.settings.max_upload_bytes
    if most and wanted.length > most:
        raise too_large(wanted.length, most)
    if wanted.length == 0:
        raise AssetRefused(f"{shown_name(wanted.name)!r} is empty", remedy="choose a file that has something in it")
    new = NewAsset(principal.tenant, shown_name(wanted.name), wanted.length, principal.account_id, {})

    async def unit(tx: Tx) -> None:
        await add(tx, new, app.settings)
        await tx.execute(
            "asset_upload_add", id=new.id, tenant=new.tenant, account_id=principal.account_id, length=wanted.length,
            purpose=wanted.purpose, options=json.dumps(dict(wanted.options)), principal=_kept(principal),
            metadata=wanted.metadata, now=tx.now,
        )  # fmt: skip

    await app.services.store.run(unit)
    made = await find(app.services.store, new.id)
    assert made is not None
    return made


async def find(store: Store, upload_id: str) -> Upload | None:
    rows = await store.read(lambda tx: tx.fetch("asset_upload", id=upload_id.lower()))
    return upload_from(rows[0]) if rows else None


def _kept(principal: Principal) -> str:
    """Who it was, for a server that finishes the upload after another one died. Nothing in it is a secret."""
    facts = {name: getattr(principal, name) for name in ("account_id", "name", "tenant", "admin", "via")}
    return json.dumps(facts | {"tenants": list(principal.tenants), "scopes": sorted(principal.scopes)})


def principal_of(upload: Upload) -> Principal:
    facts = upload.principal
    return Principal(
        facts["account_id"], facts["name"], facts["tenant"], tuple(facts["tenants"]), facts["admin"],
        frozenset(facts["scopes"]), facts["via"],
    )  # fmt: skip
