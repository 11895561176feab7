"""Whether pruning keeps up: finished jobs are removed in the process of a worker that finishes others at full speed.

That is where a janitor prunes, too: both share the event loop and the database. What was finished before is pruned while
four times as many new jobs are run, so that the worker is at it until the end.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bench.databases import Databases
from bench.processes import call
from bench.systems import towpath
from towpath import App, Context

_SLOTS = 200
_QUEUE = "bench"
_TIMES = 4


@dataclass(frozen=True)
class Beside:
    """Jobs per second of the same stretch of time."""

    pruned: float
    drained: float

    @property
    def ratio(self) -> float:
        return self.pruned / self.drained


def pruning(databases: Databases, *, jobs: int) -> Beside:
    contender = towpath(databases.kind)
    url = databases.fresh(contender)
    try:
        return call(contender.event_loop, _prune_beside_a_worker, url, jobs)
    finally:
        databases.drop(url)


async def _prune_beside_a_worker(url: str, jobs: int) -> Beside:
    app = App(url)
    handled = 0

    @app.operation("bench", queue=_QUEUE)
    async def handle(ctx: Context, payload: dict[str, Any]) -> None:
        nonlocal handled
        handled += 1

    async def load(number: int) -> None:
        for first in range(0, number, 500):
            batch = [{"operation": "bench", "payload": {"n": n}} for n in range(first, min(first + 500, number))]
            await app.enqueue_many(batch)

    async with app:
        await load(jobs)
        await app.worker([_QUEUE], _SLOTS).run_until_idle()
        await load(_TIMES * jobs)
        handled, stop = 0, asyncio.Event()
        working = asyncio.create_task(app.run_worker([_QUEUE], _SLOTS, stop=stop))
        while not handled:  # noqa: ASYNC110  (a benchmark may look)
            await asyncio.sleep(0.001)
        before, start = handled, time.perf_counter()
        pruned = await app.prune(timedelta(0))
        seconds, drained = time.perf_counter() - start, handled - before
        stop.set()
        await working
    return Beside(pruned / seconds, drained / seconds)
