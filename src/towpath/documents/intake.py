"""New runs: the run, its items and its job come to be in one transaction, or none of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from towpath import App, SchemaInvalid, Transaction, assets, new_id, plain_text, to_json
from towpath.documents import stored
from towpath.documents.names import (
    BUCKET,
    BULK,
    INGEST,
    INTERACTIVE,
    PRIORITY_OF,
    QUEUE,
    REINGEST,
    RUN,
    UPLOAD,
    URL,
)
from towpath.documents.pipeline import Pipeline
from towpath.outbound.client import check_url
from towpath.outbound.listing import check_folder
from towpath.outbound.sources import name_of, shown

MOST_ITEMS = 10_000
MOST_LISTED = 50_000
LONGEST_TITLE = 300
LONGEST_ADDRESS = 2000
_LONGEST_LANE = 500
_FEW = 20
"""So many at once are what somebody waits for; more are bulk, if nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose it is. Without an account it is everybody's in the tenant, as from the command line."""

    tenant: str
    account_id: str | None = None
    name: str | None = None

    @property
    def lane(self) -> str:
        """Fair turns are taken by person, not only by tenant."""
        return self.tenant if self.name is None else f"{self.tenant}/{self.name}"[:_LONGEST_LANE]


@dataclass(frozen=True, slots=True)
class Given:
    """One thing to be read: an uploaded file, an address, a folder of a bucket or a document that is there already. `source`
    is what an uploaded file is known by where it comes from: the next one of the same source is the same document."""

    asset_id: str | None = None
    url: str | None = None
    uri: str | None = None
    document_id: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    kind: str
    items: Sequence[Given]
    settings: Mapping[str, Any] = field(default_factory=dict)
    priority: str | None = None
    title: str | None = None


_FIELD_OF = {UPLOAD: "asset_id", URL: "url", BUCKET: "uri", REINGEST: "document_id"}


async def create(app: App, wanted: Wanted, whose: Owner) -> tuple[str, str]:
    """Makes the run and queues it; answers the ids of the run and its job."""
    _check(wanted)
    check_services(app, wanted.settings)
    run_id, settings = new_id(), dict(wanted.settings)
    if wanted.kind == BUCKET:
        settings["folders"] = [check_folder(app.settings, one.uri or "", tenant=whose.tenant) for one in wanted.items]
        items: list[dict[str, Any]] = []
    else:
        items = await _items(app, wanted, run_id, whose.tenant)
    priority = wanted.priority or (BULK if wanted.kind == BUCKET or len(items) > _FEW else INTERACTIVE)
    title = " ".join(plain_text(wanted.title or "", LONGEST_TITLE * 4).split())[:LONGEST_TITLE] or _title(wanted, items)

    async def unit(tx: Transaction) -> str:
        await tx.change(
            "document_run_add", id=run_id, tenant=whose.tenant, lane=whose.lane, kind=wanted.kind, title=title,
            settings=to_json(settings), priority=priority, count=None if wanted.kind == BUCKET else len(items),
            created_by=whose.account_id, creator=whose.name, now=tx.now,
        )  # fmt: skip
        await tx.change_many("document_item_add", items)
        return await tx.enqueue(
            INGEST, {"run_id": run_id}, tenant=whose.tenant, lane=whose.lane, queue=QUEUE, priority=PRIORITY_OF[priority],
            subject=(RUN, run_id),
        )  # fmt: skip

    return run_id, await app.transact(unit)


def _check(wanted: Wanted) -> None:
    name = _FIELD_OF[wanted.kind]
    if not wanted.items:
        raise SchemaInvalid("name what is to be read", path="items")
    if len(wanted.items) > MOST_ITEMS:
        raise SchemaInvalid(f"at most {MOST_ITEMS:,} at once, got {len(wanted.items):,}", path="items")
    for number, one in enumerate(wanted.items):
        given = [field for field in _FIELD_OF.values() if getattr(one, field)]
        if given != [name] or (one.source and name != "asset_id"):
            raise SchemaInvalid(
                f"each item of a run of kind {wanted.kind} has just {name!r}", path=f"items.{number}",
                remedy="make a run for each kind",
            )  # fmt: skip


def check_services(app: App, settings: Mapping[str, Any]) -> None:
    """Refuses addresses that would not be asked, and steps that no service can do."""
    steps = app.part(Pipeline).replaceable
    for step, url in (settings.get("remote") or {}).items():
        if step not in steps:
            raise SchemaInvalid(f"a service can do one of {', '.join(steps)}, not {step!r}", path="settings.remote")
        if url is not None and check_url(url).scheme == "http" and not app.settings.allow_private_urls:
            raise SchemaInvalid("documents are sent to https:// addresses only", path=f"settings.remote.{step}")


async def _items(app: App, wanted: Wanted, run_id: str, tenant: str) -> list[dict[str, Any]]:
    if wanted.kind == UPLOAD:
        return await _uploaded(app, wanted.items, run_id, tenant)
    if wanted.kind == REINGEST:
        return await _again(app, wanted.items, run_id, tenant)
    return [new_item(run_id, tenant, number, address=one.url) for number, one in enumerate(wanted.items)]


async def _uploaded(app: App, given: Sequence[Given], run_id: str, tenant: str) -> list[dict[str, Any]]:
    found = await assets.get_all(app, tenant, [one.asset_id or "" for one in given])
    items = []
    for number, one in enumerate(given):
        asset = found.get((one.asset_id or "").lower())
        if asset is None or asset.state != "ready":
            raise SchemaInvalid(
                f"there is no file {(one.asset_id or '')[:100]!r}", path=f"items.{number}.asset_id",
                remedy="upload it first, with the purpose 'document', and wait for the end of the upload",
            )  # fmt: skip
        source = source_of_file(one.source) if one.source else f"upload:{asset.sha256}/{asset.name}"
        items.append(new_item(run_id, tenant, number, asset_id=asset.id, name=asset.name, source=source))
    return items


async def _again(app: App, given: Sequence[Given], run_id: str, tenant: str) -> list[dict[str, Any]]:
    ids = [(one.document_id or "").lower() for one in given]
    found = {one.id: one for one in await stored.documents(app, ids) if one.tenant == tenant}
    items = []
    for number, one in enumerate(ids):
        document = found.get(one)
        if document is None:
            raise SchemaInvalid(f"there is no document {one[:100]!r}", path=f"items.{number}.document_id")
        items.append(
            new_item(
                run_id, tenant, number, asset_id=None if document.address else document.asset_id, address=document.address,
                name=document.name, source=document.source, document_id=document.id,
            )
        )  # fmt: skip
    return items


def new_item(
    run_id: str, tenant: str, number: int, *, asset_id: str | None = None, address: str | None = None,
    name: str | None = None, source: str | None = None, document_id: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The row of an item. An address is a source of its own, whatever stands behind its question mark included."""
    if address is not None and source is None:
        source = source_of_address(address)
    return {
        "id": new_id(), "run_id": run_id, "tenant": tenant, "number": number, "asset_id": asset_id, "address": address,
        "name": name or (name_of(address) if address else ""), "source": source, "document_id": document_id,
    }  # fmt: skip


def source_of_file(source: str) -> str:
    return f"file:{source}"


def source_of_address(address: str) -> str:
    query = address.partition("?")[2]
    return shown(address) + (f"?{hashlib.sha256(query.encode()).hexdigest()[:16]}" if query else "")


def _title(wanted: Wanted, items: Sequence[Mapping[str, Any]]) -> str:
    if wanted.kind == BUCKET:
        return shown(wanted.items[0].uri or "")[:LONGEST_TITLE]
    first = plain_text(str(items[0]["name"]), LONGEST_TITLE - 20)
    return first if len(items) == 1 else f"{first} and {len(items) - 1:,} more"
