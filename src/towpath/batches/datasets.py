"""Datasets: stored lists of inputs, each with an id. One comes with the batch that brings its own lines, or is made by
itself, so that many batches may name it.

What came with a batch goes when no batch names it any more. What was made by itself stays until somebody deletes it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from towpath import App, TowpathError, Transaction, assets, new_id, plain_text
from towpath.batches import stored
from towpath.batches.inputs import keep_address
from towpath.batches.names import DATASETS, dataset_key
from towpath.batches.records import Dataset, dataset_from
from towpath.http.shapes import LAST

LONGEST_NAME = 300


class DatasetNotFound(TowpathError, LookupError):
    """No dataset has this id, or it belongs to somebody else."""


class DatasetInUse(TowpathError):
    """A batch names it, and may yet want to read it."""


@dataclass(frozen=True, slots=True)
class Given:
    """Where the lines of a new one are: sent along, in an uploaded file, or at an address. One of the three."""

    lines: AsyncIterator[bytes] | None = None
    asset_id: str | None = None
    uri: str | None = None

    @property
    def nothing(self) -> bool:
        return self.lines is None and self.asset_id is None and self.uri is None


async def store(app: App, tenant: str, given: Given, name: str) -> dict[str, Any]:
    """Puts the lines where they are to stay; answers what `add` writes about them. Without `add` they are swept."""
    made: dict[str, Any] = {"id": new_id(), "tenant": tenant, "name": name, "asset_id": None, "source": None}
    if given.lines is not None:
        await app.blobs.put(dataset_key(made["id"]), given.lines)
    elif given.asset_id is not None:
        asset = await assets.get(app, tenant, given.asset_id)
        made |= {"asset_id": asset.id, "name": asset.name}
    elif given.uri is not None:
        made["name"], made["source"] = await keep_address(app, tenant, made["id"], given.uri)
    return made


async def add(tx: Transaction, made: dict[str, Any], *, batch_id: str | None = None) -> None:
    await tx.change("batch_dataset_add", **made, batch_id=batch_id, now=tx.now)


async def create(app: App, tenant: str, given: Given, name: str | None = None) -> Dataset:
    """One that belongs to no batch. Its lines are looked at when a batch reads them, each for itself."""
    made = await store(app, tenant, given, "dataset")
    named = " ".join(plain_text(name or "", LONGEST_NAME * 4).split())[:LONGEST_NAME]
    made["name"] = named or made["name"]
    await app.transact(lambda tx: add(tx, made))
    return await find(app, made["id"], tenant=tenant)


async def find(app: App, dataset_id: str, *, tenant: str | None = None) -> Dataset:
    """The dataset, if there is one and it is this tenant's; `tenant=None` is for those who may see all."""
    found = await app.query("batch_datasets_found", ids=[dataset_id])
    if not found or (tenant is not None and found[0]["tenant"] != tenant):
        raise DatasetNotFound(f"no dataset has the id {dataset_id[:100]!r}; it may have been deleted")
    return dataset_from(found[0])


async def page(app: App, tenant: str | None, *, before: str | None, limit: int) -> list[Dataset]:
    """Newest first; `before` is the last id of the page before. `tenant=None` is all of them."""
    rows = await app.query("batch_datasets_page", tenant=tenant, before=before or LAST, limit=limit)
    return [dataset_from(row) for row in rows]


async def remove(app: App, dataset: Dataset) -> None:
    """Deletes it and its lines, but not the file that they are in, if that was uploaded."""

    async def unit(tx: Transaction) -> list[str]:
        naming = [str(row["id"]) for row in await tx.query("batches_naming", tenant=dataset.tenant, dataset_id=dataset.id)]
        if not naming:
            await tx.change("batch_datasets_delete", ids=[dataset.id])
        return naming

    if naming := await app.transact(unit):
        raise DatasetInUse(f"the batch {naming[0]} names it, and may want to read it; delete that batch first")
    await app.blobs.delete_prefix(f"{DATASETS}/{dataset.id}")


async def done_with(app: App, batch_id: str) -> list[str]:
    """The datasets that go with a batch: those it names that came with some batch, and that no other names."""
    named = await stored.datasets_of_removed(app, batch_id)
    if not named:
        return []
    return [str(row["id"]) for row in await app.query("batch_datasets_done_with", ids=named, batch_id=batch_id)]
