"""Files as OpenAI's API has them: those that were uploaded by it, and those that batches made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from towpath import App, assets
from towpath.assets.lookup import page_described
from towpath.batches import stored
from towpath.batches.names import OPENAI_FILE, file_key
from towpath.batches.records import Batch
from towpath.http import shapes
from towpath.openai_api.errors import no_file
from towpath.openai_api.ids import FileRef, batch_name, file_ref

PURPOSE = "openai_purpose"
"""By this entry in an asset's meta it is a file of this API; recordings and their like are none."""
PURPOSES = ("assistants", "batch", "fine-tune", "vision", "user_data", "evals")
OUTPUT = "batch_output"


@dataclass(frozen=True, slots=True)
class File:
    ref: FileRef
    name: str
    bytes: int
    purpose: str
    created_at: datetime
    blob_key: str

    @property
    def place(self) -> tuple[str, str]:
        """Lists are in this order, backwards: ids grow with time."""
        return place_of(self.ref)


def place_of(ref: FileRef) -> tuple[str, str]:
    return ref.id, ref.kind


async def find(app: App, tenant: str, file_id: str) -> File:
    """Raises what is answered for a file that is not there, or somebody else's, or none of this API."""
    ref = file_ref(file_id)
    if ref is None:
        raise no_file(file_id)
    found = await (_uploaded(app, tenant, ref) if ref.kind == "input" else _made(app, tenant, ref))
    if found is None:
        raise no_file(file_id)
    return found


async def _uploaded(app: App, tenant: str, ref: FileRef) -> File | None:
    try:
        asset = await assets.get(app, tenant, ref.id)
    except assets.AssetNotFound:
        return None
    return _file_of(asset) if PURPOSE in asset.meta and asset.state == "ready" else None


def _file_of(asset: assets.Asset) -> File:
    ref = FileRef("input", asset.id)
    return File(ref, asset.name, asset.bytes, asset.meta[PURPOSE], asset.created_at, asset.blob_key)


async def _made(app: App, tenant: str, ref: FileRef) -> File | None:
    try:
        batch = await stored.find(app, ref.id, tenant=tenant)
    except stored.BatchNotFound:
        return None
    return await _made_by(app, batch, ref) if OPENAI_FILE in batch.settings and batch.ok is not None else None


async def _made_by(app: App, batch: Batch, ref: FileRef) -> File | None:
    key = file_key(batch.id, ref.kind)
    blob = await app.blobs.head(key)
    if blob is None:
        return None
    return File(ref, f"{batch_name(batch.id)}_{ref.kind}.jsonl", blob.size, OUTPUT, blob.created, key)


async def page(app: App, tenant: str, purpose: str | None, after: FileRef | None, limit: int) -> list[File]:
    """Newest first, those of uploads and of batches in one row; at most one more than `limit`, if there are more."""
    before = place_of(after) if after is not None else (shapes.LAST, "")
    found: list[File] = []
    if purpose != OUTPUT:
        found += await _page_uploaded(app, tenant, purpose, before, limit + 1)
    if purpose in (None, OUTPUT):
        found += await _page_made(app, tenant, before, limit + 1)
    return sorted(found, key=lambda file: file.place, reverse=True)[: limit + 1]


async def _page_uploaded(app: App, tenant: str, purpose: str | None, before: tuple[str, str], most: int) -> list[File]:
    found: list[File] = []
    last = before[0]
    while len(found) < most:
        asked = await page_described(app, tenant, PURPOSE, before=last, limit=most)
        found += [_file_of(one) for one in asked if purpose in (None, one.meta[PURPOSE])]
        if len(asked) < most:
            break
        last = asked[-1].id
    return found[:most]


async def _page_made(app: App, tenant: str, before: tuple[str, str], most: int) -> list[File]:
    found: list[File] = []
    last = before[0] + "~"  # the other file of the same batch may be next
    while len(found) < most:
        asked = await stored.page_with_option(app, tenant, OPENAI_FILE, before=last, limit=most)
        for batch in asked:
            for kind in ("output", "error") if batch.ok is not None else ():
                ref = FileRef(kind, batch.id)
                made = await _made_by(app, batch, ref) if place_of(ref) < before else None
                found += [made] if made is not None else []
        if len(asked) < most:
            break
        last = asked[-1].id
    return found[:most]
