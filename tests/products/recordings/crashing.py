"""A worker process that is killed in the middle of a window: python -m … URL BLOBS LEASE_SECONDS WINDOW"""

import asyncio
import os
import signal
import sys

from towpath import App, Settings
from towpath.recordings import windows
from towpath.server import attach


async def main(url: str, blobs: str, lease: float, last: int) -> None:
    really, begun = windows._hear_window, 0

    async def hear(*args: object) -> object:
        nonlocal begun
        begun += 1
        if begun == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return await really(*args)

    windows._hear_window = hear
    app = attach(App(url, settings=Settings(blobs_url=blobs, lease_seconds=lease, poll_seconds=0.1)))
    async with app:
        await app.run_worker(["transcription"], concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])))
