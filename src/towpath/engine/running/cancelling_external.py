"""`towpath.cancel_external`: stops at providers what a job that has ended left there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from towpath.core.errors import Transient
from towpath.core.outcomes import RetryLater
from towpath.core.provider_jobs import CALL_GRACE, ProviderJob
from towpath.engine.providers import forget_inputs, order_of
from towpath.engine.running.context import Context
from towpath.providers import Vanished
from towpath.store import provider_journal

if TYPE_CHECKING:
    from towpath.engine.transaction import Reading


async def cancel_external(ctx: Context, payload: dict[str, Any]) -> dict[str, int]:
    """Each of them on its own, so that one that cannot be stopped yet does not keep the others."""
    ids = [str(one) for one in payload["provider_jobs"]]
    rows = await ctx.services.store.read(partial(provider_journal.by_ids, ids=ids))
    await _no_call_under_way(ctx, rows)
    troubles = []
    for row in rows:
        if not row.state.ended:
            try:
                await _stop(ctx, row)
            except (Transient, TimeoutError) as error:
                troubles.append(error)
    await ctx.services.store.run(lambda tx: provider_journal.forget(tx, rows))
    if troubles:
        raise troubles[0]
    return {"cancelled": len(rows)}


async def _no_call_under_way(ctx: Context, rows: Sequence[ProviderJob]) -> None:
    """Whoever was about to order may still be at it: what he orders has to be stopped, too."""
    calls = [
        row.called_at + timedelta(seconds=ctx.services.providers.get(row.provider).submit_seconds + CALL_GRACE)
        for row in rows
        if row.called_at is not None
    ]
    if calls:
        left = (max(calls) - await ctx.read(_now)).total_seconds()
        if left > 0:
            raise RetryLater("a call to the provider may still be on its way", left)


async def _now(tx: Reading) -> datetime:
    return tx.now


async def _stop(ctx: Context, row: ProviderJob) -> None:
    provider = ctx.services.providers.get(row.provider)
    order = await order_of(ctx.values, row)
    external_id, note = row.external_id, None
    async with asyncio.timeout(ctx.settings.provider_call_seconds):
        if external_id is None and row.called_at is not None:
            # Its call may have arrived although nobody has the answer.
            found = await provider.find(order, row.prepared)
            external_id = found.external_id if found is not None else None
        if external_id is not None and provider.cancels:
            try:
                await provider.cancel(order, row.prepared, external_id)
            except Vanished:
                note = f"{row.provider} does not know it any more"
        elif external_id is not None:
            note = f"{row.provider} cannot stop a job; it goes on there, and nobody waits for it"
        if row.prepared_json is not None:
            await provider.clean(order, row.prepared)
    await ctx.services.store.run(lambda tx: provider_journal.end_by_hand(tx, row, note))
    await forget_inputs(ctx.values, row)
