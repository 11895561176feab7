"""What a process of an older release does on a database that a newer one has migrated. It is started with the
source of that release:

    PYTHONPATH=SOURCE python -m tests.upgrade.older SOURCE URL BLOBS
"""

import asyncio
import sys
from pathlib import Path

import towpath
from tests.upgrade.population import EXPECTED, QUEUES, make_app, populate, states
from towpath.testing import drain


async def main(url: str, blobs: Path) -> None:
    async with make_app(url, blobs, knows_all=False, fails=True) as app:
        await drain(app)  # what the newer release has left for it
        await populate(app)
        found = await states(app)
        wrong = {key: (state, found.get(key)) for key, (state, _) in EXPECTED.items() if found.get(key) is not state}
        assert not wrong, f"expected and found: {wrong}"
    async with make_app(url, blobs) as app:
        await app.queues.resume("paused")
        asking = next(job for job in await app.list(state="waiting") if job.key == "asking")
        await app.signal(asking.id, "answer", 42)
        async with asyncio.timeout(60):
            while await states(app) != {key: after for key, (_, after) in EXPECTED.items()}:
                await drain(app, QUEUES)
                await asyncio.sleep(0.05)  # rescued jobs come back after a moment of backoff
        await app.enqueue("work", {"say": "from the older one"}, key="from the older one")


if __name__ == "__main__":
    source, address, folder = sys.argv[1:]
    assert Path(towpath.__file__).is_relative_to(source), f"{towpath.__file__} is not from {source}"
    asyncio.run(main(address, Path(folder)))
