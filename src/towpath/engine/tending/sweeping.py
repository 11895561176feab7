"""Sweeping of blobs that belong to nothing.

A blob is written before the row that will name it, and deleted after the row that named it. Whoever is killed in between
leaves it behind: a client that was about to enqueue, a transaction that was rolled back, a worker that was pruning. So now
and then somebody walks through the store and asks the database, page by page, whose blobs are whose. What is younger than a
day may belong to something that is just being made, and stays.

The first part of a key names who keeps it, the second one whose it is: `jobs/<id>/payload`. A slice says which folders are
its own and which query knows the ids (`Slice.blobs`); other folders are left alone. So is everything in a store that
another database has written to as well, and what is older than this database's first blob there: it may be another's that
has left no mark.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from towpath.blobs import BlobStore
from towpath.blobs.marking import marked_since, marks_of_others
from towpath.engine.services import Services
from towpath.store.contract import Store, Tx

log = logging.getLogger("towpath.sweeping")

SAFE_AGE = timedelta(days=1)
_EVERY = timedelta(hours=1)
_PAGE = 500


async def database_identity(store: Store) -> str:
    """The same for a database and its backups, and for no other."""
    [row] = await store.read(lambda tx: tx.fetch("database_made_at"))
    made: datetime | float = row["applied_at"]
    moment = made.timestamp() if isinstance(made, datetime) else made
    return hashlib.blake2b(f"{moment:.6f}".encode(), digest_size=8).hexdigest()


async def sweep(services: Services) -> int:
    """One round, by one process an hour; answers how many blobs and half-written files went."""
    if not await services.store.run(_my_turn):
        return 0
    total = await services.blobs.sweep()
    if others := await marks_of_others(services.blobs, services.database):
        log.warning(
            "blobs of %d other databases are in the same place, so none is swept; give each its own TOWPATH_BLOBS_URL",
            len(others),
        )
        return total
    if since := await marked_since(services.blobs, services.database):
        for folder, query in services.keepers.items():
            total += await _sweep_folder(services, folder, query, since)
    if total:
        log.info("swept %d blobs that belong to nothing", total)
    return total


async def _my_turn(tx: Tx) -> bool:
    near = {"before": tx.now - _EVERY, "ahead": tx.now + _EVERY}
    return await tx.execute("take_turn", name="blobs", now=tx.now, **near) > 0


async def _sweep_folder(services: Services, folder: str, query: str, since: datetime) -> int:
    total, before = 0, await services.store.read(_safely_before)
    async for page in _pages(services.blobs, folder, since, before):
        known = await services.store.read(partial(_known, query=query, ids=sorted(set(page.values()))))
        for key in [key for key, owner in page.items() if owner not in known]:
            await services.blobs.delete(key)
            total += 1
    return total


async def _safely_before(tx: Tx) -> datetime:
    # Blobs bear the time of whoever keeps them. Of two clocks the one that is behind is the safe one.
    return min(tx.now, datetime.now(UTC)) - SAFE_AGE


async def _pages(blobs: BlobStore, folder: str, since: datetime, before: datetime) -> AsyncIterator[dict[str, str]]:
    """Key -> id of whose it is, of blobs that are old enough and not too old."""
    page: dict[str, str] = {}
    async with aclosing(blobs.list(folder)) as found:
        async for info in found:
            owner = info.key.split("/")[1]
            if since <= info.created < before and _is_id(owner):
                page[info.key] = owner
            if len(page) == _PAGE:
                yield page
                page = {}
    if page:
        yield page


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


async def _known(tx: Tx, query: str, ids: list[str]) -> set[str]:
    return {str(row["id"]) for row in await tx.fetch(query, ids=ids)}
