"""Pick-up latency: from just before an enqueue in one process to the handler's start in an idle worker of another."""

import asyncio
import random
import time

from bench.contender import Contender
from bench.databases import Databases
from bench.processes import ChildFailed, Scoreboard, Workers, call

_WARM_UP = 10
_SETTLING = 1.0
_PATIENCE = 15.0


def pickup(contender: Contender, databases: Databases, *, samples: int) -> list[float]:
    """Latencies in milliseconds. A job that nobody was told about shows up as what the system's polling makes of it."""
    url = databases.fresh(contender)
    scoreboard = Scoreboard(processes=1, samples=samples + _WARM_UP)
    try:
        with Workers(contender, url, batch=10, scoreboard=scoreboard, sink="latency") as workers:
            workers.go()
            time.sleep(_SETTLING)
            call(contender.event_loop, _send, contender, url, samples + _WARM_UP)
            deadline = time.monotonic() + _PATIENCE
            while scoreboard.handled < samples + _WARM_UP:
                workers.check()
                if time.monotonic() > deadline:
                    raise ChildFailed(f"{contender.name} picked up {scoreboard.handled} of {samples + _WARM_UP} jobs")
                time.sleep(0.01)
        return [nanoseconds / 1e6 for nanoseconds in scoreboard.latencies[_WARM_UP:]]
    finally:
        databases.drop(url)


async def _send(contender: Contender, url: str, jobs: int) -> None:
    # Uneven gaps, so that no system is always met at the same moment of its polling interval.
    gaps = random.Random(jobs)
    async with contender.producer(url) as producer:
        for _ in range(jobs):
            await producer.one({"sent_at": time.monotonic_ns()})
            await asyncio.sleep(gaps.uniform(0.015, 0.035))
