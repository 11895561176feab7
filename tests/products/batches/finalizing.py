"""A worker process that kills itself while it ends a batch, when it has written the blob or removed the folder of that name:
`python -m tests.products.batches.finalizing DATABASE_URL BLOBS_URL SIMULATOR_URL NAME`."""

import asyncio
import os
import signal
import sys
from typing import Any

from towpath import App, Settings, batches
from towpath.blobs.local import LocalBlobs
from towpath.providers.openai import OpenAI
from towpath.providers.simulator.openai import KEY


def make_app(url: str, blobs: str, simulator: str) -> App:
    app = App(url, settings=Settings(blobs_url=blobs, lease_seconds=1.0, poll_seconds=0.1, poll_interval_seconds=0.05))
    app.provider("OPENAI", lambda: OpenAI(api_key=KEY, base_url=f"{simulator}/v1"))
    batches.attach(app)
    return app


def die_after(name: str) -> None:
    """In whichever of the two ways the name stands for."""
    kind: Any = LocalBlobs

    def dying(whole: Any) -> Any:
        async def does(self: Any, key: str, *more: Any) -> Any:
            done = await whole(self, key, *more)
            if key.rsplit("/", 1)[1] == name and (name != "work" or ended):
                os.kill(os.getpid(), signal.SIGKILL)
            ended.update({key} if key.endswith("results.jsonl") else ())
            return done

        return does

    ended: set[str] = set()
    kind.put, kind.delete_prefix = dying(kind.put), dying(kind.delete_prefix)


async def main(url: str, blobs: str, simulator: str, name: str) -> None:
    async with make_app(url, blobs, simulator) as app:
        die_after(name)
        await app.run_worker(["batches"], concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
