"""A worker process that orders at a simulated provider and dies at a named point, if it is told one:
`python -m tests.engine.ordering PROVIDER DATABASE_URL BLOBS_URL SIMULATOR_URL [QUEUE] [POINT]`."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

from tests.providers.cases import CASES, Case, MemoryFiles
from towpath import App, Context, Settings
from towpath.core import failpoints
from towpath.providers import Order

FOLDER = "jobs/0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"
LIBRARIES = (
    "tests.providers.google_library", "anthropic", "boto3", "google.cloud.speech_v2", "httpx", "obstore", "openai",
    "sarvamai",
)  # fmt: skip
"""What takes long to import: a nursery does it once for all whom it brings forth."""


def case_of(provider: str) -> Case:
    return next(case for case in CASES if case.name == provider)


def ordered(provider: str) -> tuple[Order, MemoryFiles]:
    """An order with one part, and what it sends; the same whenever it is asked for."""
    files = MemoryFiles()
    return replace(case_of(provider).order(files, FOLDER, 1), key=""), files


def make_app(provider: str, database_url: str, blobs_url: str, simulator_url: str) -> App:
    settings = Settings(blobs_url=blobs_url, lease_seconds=1.0, poll_seconds=0.1, poll_interval_seconds=0.05)
    app = App(database_url, settings=settings)
    app.provider(provider, lambda: case_of(provider).adapter(SimpleNamespace(url=simulator_url)))  # type: ignore[arg-type]

    @app.operation("order", max_attempts=10)
    async def order(ctx: Context, payload: dict) -> list[str]:
        await ctx.spend(10)
        [row] = await ctx.submit(provider, [ordered(provider)[0]])
        return [row.state.value, *[result.ref async for result in ctx.results_of(row) if result.ok]]

    return app


def die_at(point: str) -> None:
    def hook(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.install(hook)


async def work(where: list[str], queue: str = "default", point: str | None = None) -> None:
    if point is not None:
        die_at(point)
    async with make_app(*where) as app:
        await app.run_worker([queue], concurrency=1)


def main() -> None:
    asyncio.run(work(sys.argv[1:5], *sys.argv[5:]))


if __name__ == "__main__":
    main()
