"""How busy the workers are: a look at their heartbeats now and then, added up by the minute."""

from __future__ import annotations

import time
from collections.abc import Callable

from towpath.engine.asking.liveness import live_workers
from towpath.store.contract import Store, Tx

_EVERY = 10.0  # heartbeats come no more often


class Sampler:
    """Every janitor has one. More of them make the same average from more looks."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._next = float("-inf")

    async def sample(self) -> None:
        now = self._clock()
        if now >= self._next:
            self._next = now + _EVERY
            await self._store.run(take_sample)


async def take_sample(tx: Tx) -> None:
    workers = await live_workers(tx)
    if not workers:
        return  # nothing could have been busy; an average over nobody would say that somebody was idle
    await tx.execute(
        "add_occupancy",
        minute=tx.now.replace(second=0, microsecond=0),
        samples=1,
        workers=len(workers),
        concurrency=sum(row["concurrency"] for row in workers),
        running=sum(row["running"] for row in workers),
    )
