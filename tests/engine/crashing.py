"""A worker process that dies in the middle of a job: `python -m tests.engine.crashing URL BLOBS LEASE_SECONDS`.

The job's payload names a file; whoever runs a step of the job writes a line into it.
"""

import asyncio
import os
import sys
from pathlib import Path

from towpath import App, Settings


def register(app: App, *, crash: bool) -> None:
    @app.operation("work", max_attempts=5)
    async def work(ctx, payload):
        def note(line):
            with Path(payload["file"]).open("a") as file:
                file.write(f"{line}\n")
            return line

        kept = await ctx.step("before", note, "before")
        if crash:
            os._exit(9)
        await ctx.step("after", note, "after")
        return kept

    @app.operation("deadly", max_attempts=2)
    async def deadly(ctx):
        os._exit(9)


async def main(url: str, blobs: str, lease_seconds: float) -> None:
    async with App(url, settings=Settings(blobs_url=blobs, lease_seconds=lease_seconds, poll_seconds=0.1)) as app:
        register(app, crash=True)
        await app.run_worker(concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
