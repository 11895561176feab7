"""Towpath's claim by itself: with the cursors a worker keeps, and no worker around them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from towpath.config import Settings
from towpath.core.ids import uuid7
from towpath.core.records import NewJob
from towpath.core.transitions import succeed
from towpath.engine.running.claims import QueueClaims
from towpath.store.contract import Claimed, Store
from towpath.wiring import make_store

_QUEUE = "bench"
_WORKER = uuid7()


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    store = make_store(url, Settings())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class StoreClaims:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._claims = QueueClaims(store, _QUEUE)

    async def load(self, tenants: list[str]) -> None:
        jobs = [
            NewJob(uuid7(), "bench", _QUEUE, json.dumps({"tenant": tenant}), tenant=tenant, lane=tenant)
            for tenant in tenants
        ]
        await self._store.enqueue(jobs)

    async def claim(self, limit: int) -> list[Claimed]:
        return await self._claims.claim(limit, _WORKER, 30.0)

    async def finish(self, claimed: list[Claimed]) -> None:
        await self._store.settle([succeed(job.id, job.attempt, None, solo=job.solo) for job in claimed])
        await self._claims.advance()
