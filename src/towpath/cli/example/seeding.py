"""What `towpath up` begins with, so that there is something alive to look at: three tenants, some of it slow."""

from __future__ import annotations

import asyncio
from typing import Any

from towpath.cli.example.documents import SHELVES, write_documents
from towpath.engine import example
from towpath.engine.app import App
from towpath.engine.asking.listing import Wanted, search

_LATER = 2 * 3600.0


async def seed(app: App) -> int:
    """Enqueues the first jobs and plans some more, unless there are any; answers how many."""
    if (await search(app.services.store, Wanted(), limit=1)).jobs:
        return 0
    home = await asyncio.to_thread(example.make_folder, app.url)
    await asyncio.to_thread(write_documents, home / "documents")
    await _plan(app)
    return len(await app.enqueue_many(_jobs()))


async def _plan(app: App) -> None:
    await example.remove_schedules(app)
    await app.schedules.add("example.count-every-minute", "* * * * *", "example.collection.count")
    await app.schedules.add("example.dictate-every-ten-minutes", "*/10 * * * *", "example.logbook.dictate", {"lines": 30})
    await app.schedules.add(
        "example.pack-at-night", "0 3 * * *", "example.collection.pack", {"folder": "alder"}, tenant="alder", priority=2
    )  # fmt: skip


def _jobs() -> list[dict[str, Any]]:
    read = [_job("example.collection.read", shelf.tenant, {"folder": shelf.tenant}) for shelf in SHELVES]
    dictated = [
        _job("example.logbook.dictate", shelf.tenant, {"lines": 90, "seconds_per_line": 0.8, "tongue": shelf.tongue})
        for shelf in SHELVES
    ]
    return [
        *read,
        *dictated,
        _job("example.logbook.dictate", "birch", {"lines": 300, "tongue": "french"}, priority=3),
        _job("example.collection.pack", "cedar", {"folder": "cedar"}, delay=_LATER, key="pack cedar later"),
    ]


def _job(operation: str, tenant: str, payload: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"operation": operation, "tenant": tenant, "payload": payload, **options}
