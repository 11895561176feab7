"""A worker process that orders at a simulated OpenAI and dies at a named point, if it is told one:
`python -m tests.engine.ordering DATABASE_URL BLOBS_URL SIMULATOR_URL [POINT]`."""

import asyncio
import os
import signal
import sys

from towpath import App, Context, Order, Settings
from towpath.core import failpoints
from towpath.providers.openai import OpenAI
from towpath.providers.simulator.openai import KEY


def make_app(database_url: str, blobs_url: str, simulator_url: str) -> App:
    settings = Settings(blobs_url=blobs_url, lease_seconds=1.0, poll_seconds=0.1, poll_interval_seconds=0.05)
    app = App(database_url, settings=settings)
    app.provider("OPENAI", lambda: OpenAI(api_key=KEY, base_url=f"{simulator_url}/v1"))

    @app.operation("order", max_attempts=10)
    async def order(ctx: Context, payload: dict) -> str:
        await ctx.spend(10)
        [row] = await ctx.submit("OPENAI", [Order("", "completion", "gpt-6-astra", requests=payload["blob"], count=1)])
        return row.state.value

    return app


def die_at(point: str) -> None:
    def hook(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.install(hook)


async def main(database_url: str, blobs_url: str, simulator_url: str, point: str | None = None) -> None:
    if point is not None:
        die_at(point)
    async with make_app(database_url, blobs_url, simulator_url) as app:
        await app.run_worker(concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
