"""Events to open streams: from just before an enqueue in one process until a client has read of it from its stream.

Server, producer and listeners are processes of their own. A job's key is the time it was sent at, which every message
carries; the clock is machine-wide.
"""

import asyncio
import multiprocessing
import random
import re
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from bench.databases import Databases
from bench.processes import ChildFailed, call, run_on
from bench.subjects.server import OPERATION, TENANT, Address, Server, make_app, make_token, server_at

_WARM_UP = 10
_PATIENCE = 60.0
_SENT_AT = re.compile(rb'"key":"(\d+)"')
_spawn = multiprocessing.get_context("spawn")


def fan_out(databases: Databases, *, streams: int, jobs: int) -> list[float]:
    """Milliseconds of every delivery: `streams` times `jobs` of them, some fifty jobs a second."""
    subject = Server(databases.kind)
    url = databases.fresh(subject)
    try:
        token = call(subject.event_loop, make_token, url)
        with server_at(url, token) as address:
            return _measure(url, address, streams, jobs + _WARM_UP)[streams * _WARM_UP :]
    finally:
        databases.drop(url)


def _measure(url: str, address: Address, streams: int, jobs: int) -> list[float]:
    ours, theirs = _spawn.Pipe()
    listeners = _spawn.Process(target=_listen, args=(theirs, address, streams, jobs), daemon=True)
    listeners.start()
    theirs.close()
    try:
        if not ours.poll(_PATIENCE):
            raise ChildFailed(f"{streams} streams were not open within {_PATIENCE:.0f} s")
        ours.recv()
        call("uvloop", _send, url, jobs)
        if not ours.poll(_PATIENCE):
            raise ChildFailed(f"{streams} streams did not tell of {jobs} jobs within {_PATIENCE:.0f} s")
        delays: list[float] = ours.recv()
        return delays
    finally:
        listeners.kill()
        listeners.join()


async def _send(url: str, jobs: int) -> None:
    gaps = random.Random(jobs)
    async with make_app(url) as app:
        for _ in range(jobs):
            await app.enqueue(OPERATION, {}, tenant=TENANT, key=str(time.monotonic_ns()))
            await asyncio.sleep(gaps.uniform(0.01, 0.03))


def _listen(pipe: Connection, address: Address, streams: int, jobs: int) -> None:
    run_on("uvloop", _hear(pipe, address, streams, jobs))


async def _hear(pipe: Connection, address: Address, streams: int, jobs: int) -> None:
    delays: list[float] = []
    opened, heard = asyncio.Semaphore(0), asyncio.Event()

    def delivered(sent_at: int) -> None:
        delays.append((time.monotonic_ns() - sent_at) / 1e6)
        if len(delays) == streams * jobs:
            heard.set()

    ears = [asyncio.create_task(_ear(address, opened, delivered)) for _ in range(streams)]
    for _ in range(streams):
        await opened.acquire()
    pipe.send(None)
    await heard.wait()
    pipe.send(delays)
    await asyncio.gather(*ears)


async def _ear(address: Address, opened: asyncio.Semaphore, delivered: Callable[[int], None]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(address.request("/api/events"))
    await reader.readuntil(b"\r\n\r\n")
    opened.release()
    while line := await reader.readline():
        if line.startswith(b"data:") and (found := _SENT_AT.search(line)):
            delivered(int(found[1]))
