"""A worker process for transcriptions that hears one window at a time: python -m bench.recordings_worker URL BLOBS"""

import asyncio
import sys

from towpath import App, Settings, recordings
from towpath.recordings.names import TRANSCRIPTION_QUEUE


async def main(url: str, blobs: str) -> None:
    app = App(url, settings=Settings(blobs_url=blobs, auto_summary=False))
    recordings.attach(app)
    async with app:
        await app.run_worker([TRANSCRIPTION_QUEUE], concurrency=1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
