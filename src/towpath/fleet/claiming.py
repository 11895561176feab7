"""Workers without a queue ask for a task, and wait for one if there is none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta

from towpath import App, TowpathError, Transaction
from towpath.fleet import stored
from towpath.fleet.messages import HEARTBEAT_SECONDS, MISSED, HandedTask
from towpath.fleet.minting import message_of, mint
from towpath.fleet.names import KIND, WORKER
from towpath.fleet.offers import Offers
from towpath.fleet.records import Dispatch
from towpath.fleet.workers import Claimant

log = logging.getLogger("towpath.fleet")
_MOST_BEYOND_US = 5
"""Tasks for which one claim tries in vain to make links; more of them are no matter of single tasks."""


async def claim(
    app: App, worker: Claimant, operations: Sequence[str], wait_seconds: float, base_url: str,
    is_gone: Callable[[], Awaitable[bool]],
) -> HandedTask | None:  # fmt: skip
    """The oldest task that this worker may have; None if none came while it waited, or it waits no more.

    One whose links cannot be made here, such as for want of a bucket's credentials, is given back, and does not stand before
    those behind it.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_seconds
    beyond_us: set[str] = set()
    while True:
        if await is_gone():
            return None
        found = await _take(app, worker, operations, beyond_us)
        if found is not None:
            try:
                return await _handed_over(app, found, base_url)
            except TowpathError as error:
                await _given_back(app, found)
                log.warning("no links could be made for task %s, and no worker gets it here: %s", found.task_id, error)
                beyond_us.add(found.task_id)
                if len(beyond_us) == _MOST_BEYOND_US:
                    raise
                continue
        left = until - loop.time()
        if left <= 0:
            return None
        await app.part(Offers).wait(left)


async def _take(app: App, worker: Claimant, operations: Sequence[str], but: Collection[str]) -> Dispatch | None:
    asked = list(operations)
    if not await app.query("fleet_offer_known", operations=asked, tenant=worker.tenant):
        return None  # a look costs less than a transaction, and most of them find nothing

    async def unit(tx: Transaction) -> tuple[str, int] | None:
        offered = await tx.query("fleet_offers", operations=asked, tenant=worker.tenant, limit=1 + len(but))
        row = next((one for one in offered if one["task_id"] not in but), None)
        if row is None:
            return None
        task_id, attempt = row["task_id"], row["attempt"]
        lease = tx.now + timedelta(seconds=HEARTBEAT_SECONDS * MISSED)
        await tx.change(
            "fleet_claimed", task_id=task_id, attempt=attempt, worker_id=worker.id, now=tx.now, lease_until=lease
        )
        await tx.tell(KIND, task_id, tenant=row["tenant"])
        await tx.tell(WORKER, worker.id)
        return task_id, attempt

    taken = await app.transact(unit)
    return None if taken is None else await stored.attempt(app, *taken)


async def _given_back(app: App, dispatch: Dispatch) -> None:
    """Its worker has not heard of it. Until when somebody has to take it up stays as it was."""

    async def unit(tx: Transaction) -> None:
        until = (dispatch.sent_at or dispatch.made_at) + timedelta(seconds=app.settings.fleet_ack_seconds)
        await tx.change(
            "fleet_unclaimed", task_id=dispatch.task_id, attempt=dispatch.attempt, worker_id=dispatch.worker_id,
            lease_until=until,
        )  # fmt: skip
        await tx.tell(KIND, dispatch.task_id, tenant=dispatch.tenant)
        await tx.tell(WORKER, str(dispatch.worker_id))

    await app.transact(unit)


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
