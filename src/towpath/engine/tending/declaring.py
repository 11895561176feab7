"""Whose schedules are whose.

What code declares lives as long as some process that declares it. Each lists its schedules under an id of its own, says so
again every few minutes, and takes the list back when it closes. Nobody needs a name for that, and neither two apps on one
database nor the old and the new release of one app, side by side for a while, can end each other's schedules. What no
process declares any more is retired: it stays to be seen for a week, does not fire, and comes back as it was with the next
process that declares it. What people have made stays until people remove it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

from towpath.core.errors import StoreUnavailable
from towpath.engine.schedules import CODE, PEOPLE, Planned, put
from towpath.engine.services import Services
from towpath.engine.tending.loops import Loop
from towpath.store.contract import Tx

log = logging.getLogger("towpath.schedules")

_LEASE = timedelta(minutes=15)
_RENEW_EVERY = 300.0
_RETIRED_FOR = timedelta(days=7)
_FAREWELL = 5.0  # a process that ends does not wait for a database that is away


class Declarer:
    """Keeps the schedules of one open app alive."""

    def __init__(self) -> None:
        self._loop: Loop | None = None

    async def open(self, services: Services, plans: list[Planned]) -> None:
        self._services, self._plans = services, plans
        if plans:
            await declare(services, plans)
            self._loop = Loop("declaring", self._again, first=_RENEW_EVERY)
            self._loop.start()

    async def _again(self) -> float:
        await renew(self._services, self._plans)
        return _RENEW_EVERY

    async def close(self) -> None:
        """Twice is as good as once. What a kill or an outage prevents is found out when the time has passed."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        await loop.stop()
        who = self._services.declared_by
        try:
            async with asyncio.timeout(_FAREWELL):
                await self._services.store.run(lambda tx: tx.execute("withdraw", declared_by=who, now=tx.now))
        except (StoreUnavailable, TimeoutError) as error:
            why = str(error) or f"the database did not answer within {_FAREWELL:g} s"
            log.warning("the schedules of this process could not be withdrawn, and are retired a while later: %s", why)


async def declare(services: Services, plans: list[Planned]) -> None:
    """Writes what the app declares. A schedule whose cron has not changed keeps its next time."""

    async def unit(tx: Tx) -> list[str]:
        before = {row["name"] for row in await tx.fetch("schedules") if row["origin"] == PEOPLE}
        await _put_all(tx, services, plans)
        await _renew(tx, services)
        return sorted(before & {planned.name for planned in plans})

    for name in await services.store.run(unit) if plans else ():
        log.warning("schedule %s was made by people, and code declares it now: it is the code's from now on", name)


async def renew(services: Services, plans: Sequence[Planned] = ()) -> None:
    """This process still declares what it did when it was opened; what nobody has declared for long is forgotten. If it was
    frozen for so long itself, others have forgotten its plans, and they are written again."""

    async def unit(tx: Tx) -> None:
        known = {row["name"] for row in await tx.fetch("schedules")}
        await _put_all(tx, services, [planned for planned in plans if planned.name not in known])
        await _renew(tx, services)
        await tx.execute("forget_retired", now=tx.now, before=tx.now - _RETIRED_FOR)

    await services.store.run(unit)


async def _put_all(tx: Tx, services: Services, plans: Sequence[Planned]) -> None:
    for planned in sorted(plans, key=lambda one: one.name):  # in one order: two that start at once wait, and no more
        await put(tx, services, planned, CODE)


async def _renew(tx: Tx, services: Services) -> None:
    for name in services.declared:
        await tx.execute("declare", name=name, declared_by=services.declared_by, until=tx.now + _LEASE)
    await tx.execute("still_declared", names=services.declared, now=tx.now)
