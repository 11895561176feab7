"""A worker that dies between its commit and the end of its job: python -m tests.search.indexing URL BLOBS"""

import asyncio
import os
import signal
import sys

from towpath import App, Context, Settings, Transaction, search
from towpath.search import Passage, Source, embedded, replace

TEXTS = [f"Mr. Jonas Feld waits at gate {number}." for number in range(3)]


def operation(app: App, *, kill: bool) -> None:
    async def index(ctx: Context, payload: dict[str, str]) -> None:
        vectors = await ctx.in_thread(embedded, TEXTS)

        async def unit(tx: Transaction) -> None:
            passages = [Passage(text, mentions=search.mentions(text)) for text in TEXTS]
            await replace(tx, Source(ctx.tenant, "note", payload["id"], tags=["run:1"]), passages, vectors)

        await ctx.transact(unit)
        if kill:
            os.kill(os.getpid(), signal.SIGKILL)

    app.operation("index", queue="indexing")(index)


async def main(url: str, blobs: str) -> None:
    app = App(url, settings=Settings(blobs_url=blobs, lease_seconds=1.5, poll_seconds=0.1))
    search.attach(app)
    operation(app, kill=True)
    async with app:
        await app.run_worker(["indexing"], concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
