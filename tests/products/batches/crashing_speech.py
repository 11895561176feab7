"""A worker process that is killed at a named point of an order at AZURE, or in the middle of hearing:
`python -m … URL BLOBS SIMULATOR POINT`. The point `window 2` is the second window that is heard."""

import asyncio
import os
import signal
import sys
from types import SimpleNamespace
from typing import Any

from tests.models.sounds import BUNDLED
from tests.providers import azure
from towpath import App, Settings, batches
from towpath.batches import hearing
from towpath.core import failpoints


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(point: str) -> None:
    really, begun = hearing.hear_window, 0

    async def hear(*args: Any) -> Any:
        nonlocal begun
        begun += 1
        if point == f"window {begun}":
            die()
        return await really(*args)

    hearing.hear_window = hear
    failpoints.install(lambda name: die() if name == point else None)


async def main(url: str, blobs: str, simulator: str, point: str) -> None:
    die_at(point)
    settings = Settings(
        blobs_url=blobs, lease_seconds=1.0, poll_seconds=0.1, poll_interval_seconds=0.01, models_dir=BUNDLED.models_dir
    )
    app = App(url, settings=settings)
    app.provider("AZURE", lambda: azure.adapter(SimpleNamespace(url=simulator)))  # type: ignore[arg-type]
    batches.attach(app)
    async with app:
        await app.run_worker(["batches"], concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
