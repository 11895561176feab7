"""Workers without a queue ask for a task, and wait for one if there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from towpath import App, Transaction
from towpath.fleet import stored
from towpath.fleet.messages import HEARTBEAT_SECONDS, MISSED, HandedTask
from towpath.fleet.minting import message_of, mint
from towpath.fleet.names import KIND
from towpath.fleet.offers import Offers
from towpath.fleet.records import Dispatch
from towpath.fleet.workers import Claimant


async def claim(
    app: App, worker: Claimant, operations: Sequence[str], wait_seconds: float, base_url: str,
    is_gone: Callable[[], Awaitable[bool]],
) -> HandedTask | None:  # fmt: skip
    """The oldest task that this worker may have; None if none came while it waited, or it waits no more."""
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_seconds
    while True:
        if await is_gone():
            return None
        found = await _take(app, worker, operations)
        if found is not None:
            return await _handed_over(app, found, base_url)
        left = until - loop.time()
        if left <= 0:
            return None
        await app.part(Offers).wait(left)


async def _take(app: App, worker: Claimant, operations: Sequence[str]) -> Dispatch | None:
    asked = list(operations)
    if not await app.query("fleet_offer_known", operations=asked, tenant=worker.tenant):
        return None  # a look costs less than a transaction, and most of them find nothing

    async def unit(tx: Transaction) -> tuple[str, int] | None:
        rows = await tx.query("fleet_offers", operations=asked, tenant=worker.tenant)
        if not rows:
            return None
        task_id, attempt = rows[0]["task_id"], rows[0]["attempt"]
        lease = tx.now + timedelta(seconds=HEARTBEAT_SECONDS * MISSED)
        await tx.change(
            "fleet_claimed", task_id=task_id, attempt=attempt, worker_id=worker.id, now=tx.now, lease_until=lease
        )
        await tx.tell(KIND, task_id)
        return task_id, attempt

    taken = await app.transact(unit)
    return None if taken is None else await stored.attempt(app, *taken)


async def _handed_over(app: App, dispatch: Dispatch, base_url: str) -> HandedTask:
    task = await stored.task(app, dispatch.task_id)
    minted = await mint(app, task, dispatch, await app.now(), base_url)

    async def unit(tx: Transaction) -> None:
        await tx.change(
            "fleet_dispatch_minted", task_id=task.id, attempt=dispatch.attempt, get_url=minted.get_url,
            put_url=minted.put_url, until=datetime.fromtimestamp(minted.until, UTC),
        )  # fmt: skip

    await app.transact(unit)
    return message_of(task, dispatch, minted)
