"""Towpath's claim by itself: the store's verbs with the cursor a worker keeps, and no worker around them."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from towpath.config import Settings
from towpath.core.ids import uuid7
from towpath.core.records import DEFAULT_PRIORITY, PRIORITIES, NewJob
from towpath.core.transitions import succeed
from towpath.store.contract import Claimed, Store
from towpath.wiring import make_store

_QUEUE = "bench"
_WORKER = uuid7()
# Workers write how far they have come at most this often, and start their claims from there.
_SECONDS_BETWEEN_FLOORS = 0.1


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    store = make_store(url, Settings())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class StoreClaims:
    def __init__(self, store: Store, floors: dict[int, float]) -> None:
        self._store = store
        self._cursors = dict.fromkeys(PRIORITIES, 0.0) | floors
        self._reached = self._cursors[DEFAULT_PRIORITY]
        self._written_at = time.monotonic()

    @classmethod
    async def begin(cls, store: Store) -> "StoreClaims":
        return cls(store, await store.advance(_QUEUE, {}))

    async def load(self, tenants: list[str]) -> None:
        jobs = [
            NewJob(uuid7(), "bench", _QUEUE, json.dumps({"tenant": tenant}), tenant=tenant, lane=tenant)
            for tenant in tenants
        ]
        await self._store.enqueue(jobs)

    async def claim(self, limit: int) -> list[Claimed]:
        return await self._store.claim(_QUEUE, self._cursors, limit, _WORKER, 30.0)

    async def finish(self, claimed: list[Claimed]) -> None:
        await self._store.settle([succeed(job.id, job.attempt, None, solo=job.solo) for job in claimed])
        self._reached = max(self._reached, *(job.pass_ for job in claimed))
        if time.monotonic() - self._written_at >= _SECONDS_BETWEEN_FLOORS:
            self._cursors |= await self._store.advance(_QUEUE, {DEFAULT_PRIORITY: self._reached})
            self._written_at = time.monotonic()
