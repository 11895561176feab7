"""The endpoints that pages ask for all the time, with few and with many jobs in the table, in turn.

Two servers answer, one per database; a few connections each ask one question after the other.
"""

import asyncio
import random
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field

from bench.databases import Databases
from bench.filling import fill
from bench.measure import Progress
from bench.processes import call
from bench.subjects.server import Address, Server, make_token, server_at

PATHS = (
    "/api/jobs", "/api/jobs?state=failed", "/api/jobs?tenant=tenant-3", "/api/jobs/{id}", "/api/jobs/counts",
    "/api/jobs/counts?tenant=tenant-3", "/api/queues", "/api/inbox",
)  # fmt: skip
_CONNECTIONS = 4
_PER_TURN = 20


@dataclass
class Answers:
    """What one endpoint did on one database, over all rounds."""

    rates: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)


Timings = dict[str, dict[int, Answers]]


def endpoint_costs(databases: Databases, *, small: int, large: int, requests: int, progress: Progress) -> Timings:
    """By endpoint and number of jobs."""
    subject = Server(databases.kind)
    urls: dict[int, str] = {}
    with ExitStack() as stack:
        servers: dict[int, tuple[Address, list[str]]] = {}
        for jobs in (small, large):
            start = time.monotonic()
            url = urls[jobs] = databases.fresh(subject)
            stack.callback(databases.drop, url)
            ids = call(subject.event_loop, fill, url, jobs)
            databases.loaded(url)
            progress(f"{jobs:,} jobs, loaded per second", jobs / (time.monotonic() - start))
            token = call(subject.event_loop, make_token, url)
            servers[jobs] = (stack.enter_context(server_at(url, token)), ids)
        return call("uvloop", _take_turns, servers, requests)


async def _take_turns(servers: dict[int, tuple[Address, list[str]]], requests: int) -> Timings:
    """Short turns: what else the machine does meets both of them."""
    found: Timings = {path: {jobs: Answers() for jobs in servers} for path in PATHS}
    dice = random.Random(requests)
    order = list(servers)
    for path in PATHS:
        for turn in range(-2, requests // _PER_TURN):  # the first two prepare statements and warm caches
            for jobs in order:
                address, ids = servers[jobs]
                asked = [path.replace("{id}", dice.choice(ids)) for _ in range(_PER_TURN)]
                await _ask_all(address, asked, found[path][jobs] if turn >= 0 else Answers())
            order.reverse()
    return found


async def _ask_all(address: Address, paths: list[str], answers: Answers) -> None:
    waiting = iter(paths)
    start = time.perf_counter()
    await asyncio.gather(*(_ask(address, waiting, answers) for _ in range(_CONNECTIONS)))
    answers.rates.append(len(paths) / (time.perf_counter() - start))


async def _ask(address: Address, paths: Iterable[str], answers: Answers) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    try:
        for path in paths:
            start = time.perf_counter()
            writer.write(address.request(path))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            answers.milliseconds.append((time.perf_counter() - start) * 1e3)
            if not head.startswith(b"http/1.1 200"):
                raise RuntimeError(f"{path} answered {head[:20]!r}: {body[:300]!r}")
    finally:
        writer.close()
