"""Jobs per second: putting them in, one by one and in bulk, and taking them out again."""

import time
from itertools import count

from bench.contender import Contender, Payload
from bench.databases import Databases
from bench.processes import ChildFailed, Scoreboard, Workers, call

_PATIENCE = 120.0


def enqueue(contender: Contender, databases: Databases, *, batch: int, seconds: float, tenants: int = 1) -> float:
    """One producer that waits for each batch to be durable before it sends the next."""
    url = databases.fresh(contender)
    try:
        return call(contender.event_loop, _enqueue, contender, url, batch, seconds, tenants)
    finally:
        databases.drop(url)


async def _enqueue(contender: Contender, url: str, batch: int, seconds: float, tenants: int) -> float:
    def payload(number: int) -> Payload:
        return {"n": number} if tenants == 1 else {"n": number, "tenant": f"tenant {number % tenants}"}

    async with contender.producer(url) as producer:
        for _ in range(5):  # prepared statements and warm caches
            await producer.many([payload(number) for number in range(batch)])
        numbers = count()
        start = time.perf_counter()
        deadline = start + seconds
        while (now := time.perf_counter()) < deadline:
            if batch == 1:
                await producer.one(payload(next(numbers)))
            else:
                await producer.many([payload(next(numbers)) for _ in range(batch)])
        return next(numbers) / (now - start)


def drain(contender: Contender, databases: Databases, *, batch: int, processes: int, seconds: float) -> float:
    """From the first handler's start until every job of the backlog is durably finished."""
    jobs = round(contender.pace(batch) * processes * seconds)
    url = databases.fresh(contender)
    try:
        call(contender.event_loop, load, contender, url, jobs)
        databases.loaded(url)
        scoreboard = Scoreboard(processes)
        reader = databases.reader(url)
        with Workers(contender, url, batch=batch, scoreboard=scoreboard, sink="count") as workers:
            workers.go()
            deadline = time.monotonic() + _PATIENCE
            while scoreboard.handled < jobs or reader.value(contender.unfinished):
                workers.check()
                if time.monotonic() > deadline:
                    raise ChildFailed(f"{contender.name} ran {scoreboard.handled} of {jobs} jobs in {_PATIENCE:.0f} s")
                time.sleep(0.002)
            elapsed = (time.monotonic_ns() - scoreboard.started_at) / 1e9
        reader.close()
        return jobs / elapsed
    finally:
        databases.drop(url)


async def load(contender: Contender, url: str, jobs: int) -> None:
    async with contender.producer(url) as producer:
        for first in range(0, jobs, 500):
            await producer.many([{"n": number} for number in range(first, min(first + 500, jobs))])
