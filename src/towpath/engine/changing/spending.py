"""`app.spending`: how much tenants and runs may spend."""

from __future__ import annotations

import math
from collections.abc import Sequence

from towpath.core.errors import SchemaInvalid
from towpath.engine.asking import reading
from towpath.engine.registry import check_label
from towpath.engine.services import Services
from towpath.store import spending
from towpath.store.also import Also, together
from towpath.store.contract import Tx
from towpath.store.spending import EVER, MONTH, RUN, TENANT, Limit

_ALL = 1_000_000_000


class Spending:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def limits(self, after: str = "", limit: int = _ALL) -> Sequence[Limit]:
        """Of tenants, by name, with what each has spent of it: so many of those after a name. Who has none may spend
        anything."""
        return await self._services.store.read(lambda tx: spending.limits(tx, after, limit))

    async def limit_of(self, tenant: str) -> Limit | None:
        """None: it may spend anything."""
        return await self._services.store.read(lambda tx: spending.limit_of(tx, TENANT, tenant))

    async def of_job(self, job_id: str) -> Sequence[Limit]:
        """The limits that a job is under."""
        job = await reading.get(self._services.store, job_id)
        return await self._services.store.read(lambda tx: spending.standing(tx, job))

    async def limit_tenant(
        self, tenant: str, cents: float | None, *, period: str = MONTH, also: Also[None] | None = None
    ) -> None:
        """What a tenant may spend in a `month`, or `ever`; None takes the limit away. Who waits for money looks again."""
        check_label("tenant", tenant)
        if period not in (MONTH, EVER):
            raise SchemaInvalid(f"must be {MONTH} or {EVER}, got {period!r}", path="period")
        await self._set(TENANT, tenant, tenant, cents, period, also)

    async def limit_run(self, job_id: str, cents: float | None, *, also: Also[None] | None = None) -> None:
        """What one run may spend: the root of this job, and everything that it makes."""
        job = await reading.get(self._services.store, job_id)
        await self._set(RUN, job.root_id, job.tenant, cents, EVER, also)

    async def _set(
        self, scope: str, name: str, tenant: str, cents: float | None, period: str, also: Also[None] | None
    ) -> None:
        if cents is not None and not (math.isfinite(cents) and cents >= 0):
            raise SchemaInvalid(f"must be zero or more cents, got {cents!r}", path="cents")

        async def unit(tx: Tx) -> None:
            await spending.set_limit(tx, scope, name, tenant, cents, period)

        await self._services.store.run(together(unit, also))
        await self._services.store.run(lambda tx: spending.wake_tenant(tx, tenant))
