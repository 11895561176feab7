"""`ctx.spend` and `ctx.spent`: work that costs money waits, visibly, for as long as there is none for it."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from towpath.engine.running.waits import full_name
from towpath.store import spending

if TYPE_CHECKING:
    from towpath.engine.running.context import Context
    from towpath.engine.transaction import Reading


_LOOK_AGAIN = timedelta(minutes=10)


async def spend(ctx: Context, cents: float, key: str | None, limit: float | None) -> None:
    for what, value in (("cents", cents), ("limit", limit)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{what} must be zero or more, got {value!r}")
    name = _name(key)
    if (await ctx.memory()).use(name, "spend") is not None:
        return
    held = await ctx.services.store.run(lambda tx: spending.reserve(tx, ctx.id, ctx.fence, name, cents, limit))
    if held.short is not None:
        now = await ctx.read(_now)
        # Whoever raises a limit wakes it. That a month begins, or money is free again, it sees for itself.
        deadline = min(now + _LOOK_AGAIN, spending.next_month(now))
        raise ctx.suspend("budget", wakes_seen=held.wakes, deadline=deadline)
    if held.step is not None:
        (await ctx.memory()).put(held.step)


async def spent(ctx: Context, cents: float, key: str | None) -> None:
    if not (math.isfinite(cents) and cents >= 0):
        raise ValueError(f"cents must be zero or more, got {cents!r}")
    if await ctx.services.store.run(lambda tx: spending.settle(tx, ctx.id, ctx.fence, _name(key), cents)):
        await ctx.services.store.run(lambda tx: spending.wake_tenant(tx, ctx.tenant))


def _name(key: str | None) -> str:
    return full_name("spend", key)


async def _now(tx: Reading) -> datetime:
    return tx.now
