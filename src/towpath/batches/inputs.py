"""Where a dataset's lines are: a blob of its own, an uploaded file, or an address, which is read once.

An address may hold a secret, such as the signature of a link. The row has it as it may be shown; word for word it is in a
blob of the dataset, for as long as nobody has read what is there. What was read is the dataset's own from then on:
whoever asks again gets the same lines, and needs no link that is still good.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from towpath import App, Context, Fatal, Transient, assets
from towpath.batches import stored
from towpath.batches.lines import download
from towpath.batches.names import address_key, dataset_key
from towpath.batches.records import Dataset
from towpath.outbound.client import Outbound
from towpath.outbound.sources import check_source, name_of, open_source, shown

LONGEST_ADDRESS = 8000


async def keep_address(app: App, tenant: str, dataset_id: str, uri: str) -> tuple[str, str]:
    """Puts down where a dataset is to be read from; answers its name and the address as it may be shown."""
    check_source(app.settings, uri, tenant=tenant)
    if uri.lower().startswith("http"):
        with suppress(Transient):  # a name that leads nowhere just now may do so when it is read
            await Outbound(allow_private=app.settings.allow_private_urls).check(uri)
    await app.blobs.put(address_key(dataset_id), uri.encode())
    return name_of(uri), shown(uri)


async def download_all(ctx: Context, tenant: str, dataset_ids: Sequence[str], target: Path) -> None:
    """The lines of all of them, one after the other, in one file."""
    found = await stored.datasets(ctx, tenant, dataset_ids)
    if len(found) < len(dataset_ids):
        raise Fatal("a dataset of this batch is there no more", remedy="make a new batch")
    for dataset in found:
        await download(ctx.blobs, await _key_of(ctx, tenant, dataset), target)


async def _key_of(ctx: Context, tenant: str, dataset: Dataset) -> str:
    if dataset.asset_id is not None:
        try:
            return (await assets.get(ctx, tenant, dataset.asset_id)).blob_key
        except assets.AssetNotFound:
            raise Fatal(f"the file {dataset.name!r} was deleted", remedy="upload it again") from None
    if dataset.source is not None:
        await _read(ctx, tenant, dataset)
    return dataset_key(dataset.id)


async def _read(ctx: Context, tenant: str, dataset: Dataset) -> None:
    """Once: the address goes when the lines are here."""
    if await ctx.blobs.head(dataset_key(dataset.id)) is None:
        if await ctx.blobs.head(address_key(dataset.id)) is None:
            raise Fatal(f"nobody knows any more where {dataset.source} was to be read", remedy="make a new batch")
        uri = (await ctx.blobs.get(address_key(dataset.id))).decode()
        limit = ctx.settings.max_upload_bytes or None
        async with open_source(ctx.settings, uri, tenant=tenant, limit=limit) as source:
            await ctx.blobs.put(dataset_key(dataset.id), aiter(source))
    await ctx.blobs.delete(address_key(dataset.id))
