"""Assets deleted, with everything that is stored of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

from towpath import App, JobNotFound, NotRequeueable, Transaction
from towpath.assets.keys import FINISH, SUBJECT, folder_of
from towpath.assets.quota import count_against_quota


async def delete(app: App, tenant: str, ids: Sequence[str]) -> int:
    """Deletes files; answers how many there were. Unknown and foreign ids are passed over.

    They are gone for everybody at once. Should the process die before the blobs are, `tidy` deletes the rest.
    """
    wanted = [one.lower() for one in ids]

    async def unit(tx: Transaction) -> list[str]:
        rows = await tx.query("assets_lock", ids=wanted, tenant=tenant)
        if rows:
            size = sum(row["bytes"] for row in rows)
            await count_against_quota(tx, tenant, -size, 0, assets=-len(rows))
            await tx.change("assets_remove", ids=[row["id"] for row in rows], now=tx.now)
        return [row["id"] for row in rows]

    found = await app.transact(unit)
    await forget(app, found)
    return len(found)


async def forget(app: App, ids: Sequence[str]) -> None:
    """The blobs, the job that handed it over, and then the rows of what has been removed; again is as good as once."""
    for one in ids:
        await app.blobs.delete_prefix(folder_of(one))
    jobs = chain.from_iterable((await app.subjects.jobs(SUBJECT, ids)).values())
    for job in (job for job in jobs if job.operation == FINISH):
        with suppress(JobNotFound, NotRequeueable):  # one that is still at it finds nothing more, and ends
            await app.delete(job.id)

    async def unit(tx: Transaction) -> None:
        for query in ("asset_parts_forget", "asset_uploads_forget", "assets_forget"):
            await tx.change(query, ids=list(ids))

    if ids:
        await app.transact(unit)
