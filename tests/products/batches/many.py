"""A process that runs batches of so many requests, one after the other, and says after each the most KiB that it has held:
`python -m tests.products.batches.many DATABASE_URL BLOBS_URL COUNT…`."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from tests.engine.working import working
from tests.providers.streamed import StreamedProvider
from towpath import App, Settings, batches
from towpath.batches import intake, names, stored
from towpath.batches.intake import Owner, Wanted


def peak() -> int:
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1])


async def lines(count: int) -> AsyncIterator[bytes]:
    """Every thousandth is broken, so that what is wrong is counted as well."""
    for number in range(count):
        said = f"Question {number}: who sang of the miller, and what did the brook say to that? " * 2
        body = {"messages": [{"role": "user", "content": said}], "max_tokens": 100}
        line = json.dumps({"custom_id": f"request-{number}", "body": body}).encode()
        yield (line[:-1] if number % 1000 == 999 else line) + b"\n"


async def run(app: App, count: int) -> None:
    wanted = Wanted(StreamedProvider.name, ["m1"], lines=lines(count))
    batch_id, job_id = await intake.create(app, wanted, Owner("default"))
    await app.result(job_id, timeout=3000)
    batch = await stored.find(app, batch_id)
    broken = count // 1000
    assert (batch.count, batch.ok, batch.invalid) == (count, count - broken, broken), batch
    told = 0
    async for piece in app.blobs.open(names.results_key(batch_id)):
        told += piece.count(b"\n")
    assert told == count


async def main(url: str, blobs: str, *counts: str) -> None:
    app = App(url, settings=Settings(blobs_url=blobs, poll_interval_seconds=0.05))
    app.provider(StreamedProvider.name, StreamedProvider)
    batches.attach(app)
    async with app, working(app):
        for count in counts:
            await run(app, int(count))
            print(peak(), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
