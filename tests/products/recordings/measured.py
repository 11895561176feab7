"""A worker that does one job and prints the most memory it had, in megabytes: python -m … URL BLOBS JOB"""

import asyncio
import resource
import sys
from contextlib import suppress

from towpath import App, Settings
from towpath.server import attach


async def main(url: str, blobs: str, job_id: str) -> None:
    app = attach(App(url, settings=Settings(blobs_url=blobs, poll_seconds=0.1, drain_seconds=0.2)))
    async with app:
        working = asyncio.create_task(app.run_worker(["transcription"], concurrency=2))
        await app.result(job_id, timeout=880)
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
    sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
