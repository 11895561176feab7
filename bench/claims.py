"""What one claim costs, by backlog and number of tenants, and while an open snapshot keeps dead index entries alive."""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from bench.contender import Contender
from bench.databases import Databases
from bench.measure import Progress
from bench.processes import call

_BATCH = 100


class Claims(Protocol):
    """The store's own verbs, without a worker around them."""

    async def load(self, tenants: list[str]) -> None:
        """Enqueue one job per entry."""
        ...

    async def claim(self, limit: int) -> Any: ...

    async def finish(self, claimed: Any) -> None: ...


class Claiming(Contender, Protocol):
    def claims(self, url: str) -> AbstractAsyncContextManager[Claims]: ...


@dataclass(frozen=True)
class Situation:
    queued: int
    tenants: int
    pinned: bool = False

    def __str__(self) -> str:
        pinned = ", pinned snapshot" if self.pinned else ""
        return f"{self.queued:,} queued, {self.tenants:,} tenants{pinned}"


Timings = dict[Situation, list[float]]


def claim_costs(
    contender: Claiming, databases: Databases, *, small: int, large: int, rounds: int, progress: Progress
) -> dict[Situation, tuple[list[float], list[float]]]:
    """Milliseconds per claim of 100, each beside those of the smallest situation taken in turn with it."""
    urls: dict[Situation, str] = {}
    for situation in (Situation(queued, tenants) for queued in (small, large) for tenants in (10, 10_000)):
        start = time.monotonic()
        url = urls[situation] = databases.fresh(contender)
        call(contender.event_loop, _load, contender, url, situation)
        databases.loaded(url)
        progress(f"loaded {situation}", situation.queued / (time.monotonic() - start))
    base = Situation(small, 10)
    free = call(contender.event_loop, _take_turns, contender, urls, rounds)
    costs = {situation: (taken, free[base]) for situation, taken in free.items()}

    pinned = Situation(large, 10_000, pinned=True)
    pinned_url = urls[Situation(large, 10_000)]
    reader = databases.reader(pinned_url)
    reader.pin()
    call(contender.event_loop, _wear, contender, pinned_url, rounds * 2)
    turns = call(contender.event_loop, _take_turns, contender, {base: urls[base], pinned: pinned_url}, rounds)
    costs[pinned] = (turns[pinned], turns[base])
    reader.close()

    for url in urls.values():
        databases.drop(url)
    return costs


async def _load(contender: Claiming, url: str, situation: Situation) -> None:
    async with contender.claims(url) as claims:
        tenants = _tenants(situation)
        for first in range(0, situation.queued, 2_000):
            size = min(2_000, situation.queued - first)
            await claims.load([next(tenants) for _ in range(size)])


async def _wear(contender: Claiming, url: str, batches: int) -> None:
    """Leave dead entries at the head of the index, which nothing may remove while the snapshot is open."""
    async with contender.claims(url) as claims:
        for _ in range(batches):
            await claims.finish(await claims.claim(_BATCH))


async def _take_turns(contender: Claiming, urls: Mapping[Situation, str], rounds: int) -> Timings:
    timings: Timings = {situation: [] for situation in urls}
    async with AsyncExitStack() as stack:
        open_claims = {key: await stack.enter_async_context(contender.claims(url)) for key, url in urls.items()}
        tenants = {situation: _tenants(situation) for situation in urls}
        for number in range(-5, rounds):
            for situation, claims in open_claims.items():
                start = time.perf_counter()
                claimed = await claims.claim(_BATCH)
                elapsed = (time.perf_counter() - start) * 1e3
                await claims.finish(claimed)
                await claims.load([next(tenants[situation]) for _ in range(_BATCH)])
                if number >= 0:  # the first few prepare statements and warm caches
                    timings[situation].append(elapsed)
    return timings


def _tenants(situation: Situation) -> Iterator[str]:
    return (f"tenant-{number % situation.tenants}" for number in count())
