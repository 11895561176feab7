"""What `towpath up` begins with, so that there is something alive to look at: three tenants, some of it slow."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from towpath.cli.example.documents import SHELVES, write_documents
from towpath.engine.app import App
from towpath.engine.listing import Wanted, search

_LATER = 2 * 3600.0


async def prepare(home: Path) -> None:
    """The documents, the same on every run."""
    await asyncio.to_thread(write_documents, home / "documents")


async def seed(app: App) -> int:
    """Enqueues the first jobs, unless there are any; answers how many."""
    found = await search(app.services.store, Wanted(), limit=1)
    return 0 if found.jobs else len(await app.enqueue_many(_jobs()))


def _jobs() -> list[dict[str, Any]]:
    read = [_job("collection.read", shelf.tenant, {"folder": shelf.tenant}) for shelf in SHELVES]
    dictated = [
        _job("logbook.dictate", shelf.tenant, {"lines": 90, "seconds_per_line": 0.8, "tongue": shelf.tongue})
        for shelf in SHELVES
    ]
    return [
        *read,
        *dictated,
        _job("logbook.dictate", "birch", {"lines": 300, "tongue": "french"}, priority=3),
        _job("collection.pack", "cedar", {"folder": "cedar"}, delay=_LATER, key="pack cedar later"),
    ]


def _job(operation: str, tenant: str, payload: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"operation": operation, "tenant": tenant, "payload": payload, **options}
