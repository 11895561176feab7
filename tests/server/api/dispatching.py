"""A server process that only dispatches webhooks, and dies where it is told: python -m … URL BLOBS POINT"""

import asyncio
import os
import signal
import sys

from towpath import App, Settings
from towpath.core import failpoints
from towpath.server import attach
from towpath.server.webhooks import dispatcher


def make_app(url: str, blobs: str) -> App:
    app = attach(App(url, settings=Settings(blobs_url=blobs, pool_size=3, allow_private_urls=True)))
    app.operation("work")(_work)
    return app


async def _work(ctx: object) -> None: ...


async def main(url: str, blobs: str, point: str) -> None:
    def hook(name: str) -> None:
        if name == point and "webhooks.read" in reached | {name}:
            os.kill(os.getpid(), signal.SIGKILL)
        reached.add(name)

    reached: set[str] = set()
    async with make_app(url, blobs) as app:
        failpoints.install(hook)
        for _ in range(20):
            await dispatcher(app).turn()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
