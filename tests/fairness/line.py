"""A queue and the one worker that serves it, one claim at a time, so that turns can be counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from towpath import App
from towpath.core import transitions
from towpath.core.ids import uuid7
from towpath.core.records import NewJob
from towpath.engine.running.claims import QueueClaims
from towpath.store import ledger
from towpath.store.contract import Claimed


class Line:
    """Claims go through the worker's own `QueueClaims`. Its clock is ours: by default every claim takes long enough for
    the floor to be written after it, as it is with jobs that take a tenth of a second or more."""

    def __init__(self, app: App, queue: str = "q", *, seconds_per_claim: float = 0.2) -> None:
        self.app, self.store, self.queue = app, app.services.store, queue
        self.seconds_per_claim = seconds_per_claim
        self._now = 0.0
        self.claims = QueueClaims(self.store, queue, clock=lambda: self._now)

    def new(self, tenant: str, **fields: Any) -> NewJob:
        values = {"operation": "work", "queue": self.queue, "payload_json": "null", "tenant": tenant, "lane": tenant}
        return NewJob(uuid7(), **(values | fields))

    async def add(self, tenant: str, count: int = 1, **fields: Any) -> list[str]:
        """One bulk enqueue."""
        made = await self.store.enqueue([self.new(tenant, **fields) for _ in range(count)])
        return [job.id for job in made]

    async def claim(self) -> Claimed | None:
        found = await self.claims.claim(1, "worker", 3600.0)
        self._now += self.seconds_per_claim
        await self.claims.advance()
        return found[0] if found else None

    async def turns(self, count: int) -> list[str]:
        """Whose turn each of the next claims is."""
        return [job.tenant for _ in range(count) if (job := await self.claim()) is not None]

    async def drain(self) -> list[Claimed]:
        found = []
        while job := await self.claim():
            found.append(job)
        return found

    async def settle(self, job: Claimed) -> None:
        [refused] = await self.store.settle([transitions.succeed(job.id, job.attempt, None, solo=job.solo)])
        assert refused is None

    async def lane(self, tenant: str, **settings: Any) -> None:
        await self.app.queues.lane(self.queue, tenant, **settings)

    async def cancel(self, *ids: str) -> None:
        asked = [transitions.cancel(job_id) for job_id in ids]
        assert set(await self.store.run(lambda tx: ledger.apply(tx, asked))) == {None}


@asynccontextmanager
async def open_line(url: str, queue: str = "q") -> AsyncIterator[Line]:
    async with App(url) as app:
        yield Line(app, queue)
