"""A worker process that dies on the way of single requests into a batch and back:
`python -m tests.products.batches.crashing DATABASE_URL BLOBS_URL SIMULATOR_URL POINT`."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from tests.providers.openai import adapter
from towpath import App, Context, Settings
from towpath.batches import asking, completing, gathering, handing_back
from towpath.core import failpoints
from towpath.server import attach

QUEUES = ("batches", "batches.requests", "batches.care")
IN_OURS: dict[str, tuple[Any, str]] = {
    "joined, and not committed": (asking, "join"),
    "closed": (gathering, "close"),
    "withdrawn": (gathering, "_withdraw"),
    "gathered, and not recorded": (gathering, "_gather"),
    "some answers handed back": (handing_back, "_some"),
    "all answers handed back": (completing, "hand_back"),
}
"""Points that are functions of the product: the worker dies when one has returned."""
IN_THE_ENGINE = ("submit.intended", "submit.calling", "submit.accepted", "submit.recorded", "poll.answered")
JOINED = "joined, and not waiting yet"
POINTS = (*IN_OURS, JOINED, *IN_THE_ENGINE)


class Simulated:
    def __init__(self, url: str) -> None:
        self.url = url


def make_app(database_url: str, blobs_url: str, simulator_url: str, **settings: Any) -> App:
    given = {"lease_seconds": 1.0, "poll_seconds": 0.1, "poll_interval_seconds": 0.05, "gather_requests": 3} | settings
    app = App(database_url, settings=Settings(blobs_url=blobs_url, **given))
    app.provider("OPENAI", lambda: adapter(Simulated(simulator_url)))  # type: ignore[arg-type]
    return attach(app)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(point: str) -> None:
    if point in IN_OURS:
        module, name = IN_OURS[point]
        setattr(module, name, _and_die(getattr(module, name)))
    elif point == JOINED:
        Context.wait_for = _at_answers(Context.wait_for)  # type: ignore[method-assign]
    else:
        failpoints.install(lambda name: die() if name == point else None)


def _and_die(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def last(*args: Any, **more: Any) -> None:
        await function(*args, **more)
        die()

    return last


def _at_answers(wait_for: Callable[..., Any]) -> Callable[..., Any]:
    async def waits(ctx: Context, name: str, **more: Any) -> Any:
        if name.startswith("batches.answer"):
            die()
        return await wait_for(ctx, name, **more)

    return waits


async def work(where: list[str], point: str) -> None:
    die_at(point)
    async with make_app(*where) as app:
        await app.run_worker(QUEUES, concurrency=4)


def main() -> None:
    asyncio.run(work(sys.argv[1:4], sys.argv[4]))


if __name__ == "__main__":
    main()
