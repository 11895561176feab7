"""Requests per second through LOCAL, against asking the chat service directly: as many at once, over connections that are
kept, and nothing written down."""

import asyncio
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx

from bench.databases import Databases
from bench.measure import Comparison, Progress, compare
from bench.processes import call, free_port, running
from bench.subjects import chat
from bench.subjects.batches import MODEL, answered, lines, make_app, place, request, send, worker
from towpath.batches.answering import AT_ONCE

DIRECT, LOCAL = "asked directly", "LOCAL"
SLOTS = 2


def through_local(
    databases: Databases, *, requests: int, rounds: int, progress: Progress
) -> tuple[Comparison, float, float]:
    """Requests per second, and the milliseconds that a request takes of a processor, directly and through LOCAL."""
    spent: dict[str, list[float]] = {DIRECT: [], LOCAL: []}

    def rate(name: str, seconds: float, computed: float) -> float:
        spent[name].append(computed / requests * 1000)
        return requests / seconds

    with _service() as service, place(databases) as (url, blobs), worker(url, blobs, slots=SLOTS, chat=service) as used:

        def local() -> float:
            before = used.computed()
            seconds = call("uvloop", _local, url, blobs, service, requests)
            return rate(LOCAL, seconds, used.computed() - before)

        def direct() -> float:
            return rate(DIRECT, *call("uvloop", _direct, service, requests))

        local()  # imports what a first batch needs, and prepares statements
        spent[LOCAL].clear()
        compared = compare(DIRECT, direct, {LOCAL: local}, rounds=rounds, progress=progress)
    return compared[LOCAL], median(spent[DIRECT]), median(spent[LOCAL])


async def _local(url: str, blobs: Path, service: str, requests: int) -> float:
    async with make_app(url, blobs, chat=service) as app:
        began = time.perf_counter()
        batch_id = await send(app, "LOCAL", lines(requests))
        await answered(app, batch_id, requests)
        return time.perf_counter() - began


async def _direct(service: str, requests: int) -> tuple[float, float]:
    left = iter(range(requests))
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:

        async def ask() -> None:
            for number in left:
                body = {**request(number)["body"], "model": MODEL}  # type: ignore[dict-item]  # a request is made of JSON
                (await client.post(f"{service}/chat/completions", json=body)).raise_for_status().json()

        began, before = time.perf_counter(), _computed()
        await asyncio.gather(*(ask() for _ in range(SLOTS * AT_ONCE)))
        return time.perf_counter() - began, _computed() - before


def _computed() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def _service() -> Iterator[str]:
    port = free_port()
    with running(chat.serve, "127.0.0.1", port=port):
        yield f"http://127.0.0.1:{port}/v1"
