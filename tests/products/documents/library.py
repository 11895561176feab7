"""Documents as tests see them: people who send files over HTTP, and a worker to let in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx

from tests.engine.working import working
from tests.server.api.site import Site, ok, opened_site
from towpath import App, assets, search

ENDED = ("COMPLETED", "PARTIAL", "FAILED", "CANCELLED")
STEPS = ["FETCHED", "CONTENT_EXTRACTED", "CHUNKED", "EMBEDDED", "ENTITY_EXTRACTED", "PERSISTED", "INDEXED"]
TEXT = "The horses drew the barges along the canal, and Dr. Helen Brandt took a toll of 12.50 EUR at the lock."


class Library:
    """`library.ann` and `library.bob` are clients of two tenants, `library.root` is an administrator's."""

    def __init__(self, site: Site) -> None:
        self.site, self.app = site, site.app
        self.ann, self.bob, self.root, self.nobody = site.ann, site.bob, site.root, site.nobody

    def working(self, concurrency: int = 4) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, "documents", "documents.care", "default", concurrency=concurrency)

    async def file(self, data: bytes | str, name: str = "canal.txt", *, tenant: str = "north") -> str:
        """An uploaded file; answers its id."""

        async def pieces() -> AsyncIterator[bytes]:
            yield data.encode() if isinstance(data, str) else data

        return (await assets.receive(self.app, tenant, name, pieces(), kinds=None, created_by=None)).id

    async def send(self, items: Sequence[Mapping[str, Any]], *, by: httpx.AsyncClient | None = None, **more: Any) -> Any:
        asked = {"kind": "upload", "items": list(items)} | more
        return await (by or self.ann).post("/api/documents/runs", json=asked)

    async def make(self, *files: tuple[str, bytes | str], **more: Any) -> str:
        items = [{"asset_id": await self.file(data, name)} for name, data in files]
        return str(ok(await self.send(items, **more), 202)["id"])

    async def run(self, run_id: str) -> Any:
        return ok(await self.ann.get(f"/api/documents/runs/{run_id}"))

    async def items(self, run_id: str, **query: Any) -> list[Any]:
        return list(ok(await self.ann.get(f"/api/documents/runs/{run_id}/items", params=query))["items"])

    async def events(self, item: Mapping[str, Any]) -> list[Any]:
        path = f"/api/documents/runs/{item['run_id']}/items/{item['id']}/events"
        return list(ok(await self.ann.get(path, params={"limit": 1000}))["items"])

    async def until(self, run_id: str, *statuses: str, within: float = 90.0) -> Any:
        async with asyncio.timeout(within):
            while True:
                found = await self.run(run_id)
                if found["status"] in statuses:
                    return found
                await asyncio.sleep(0.05)  # asking costs more than waiting

    async def done(self, run_id: str) -> Any:
        return await self.until(run_id, *ENDED)

    async def finished(self, *files: tuple[str, bytes | str], **more: Any) -> tuple[Any, list[Any]]:
        """A run that has ended, and its items."""
        run_id = await self.make(*files, **more)
        async with self.working():
            run = await self.done(run_id)
        return run, await self.items(run_id)

    async def document(self, item: Mapping[str, Any]) -> Any:
        return ok(await self.ann.get(f"/api/documents/{item['document_id']}"))

    async def found(self, question: str, tenant: str = "north", **more: Any) -> list[search.Hit]:
        return list((await search.find(self.app, tenant, question, **more)).hits)


@asynccontextmanager
async def opened_library(app: App) -> AsyncIterator[Library]:
    async with opened_site(app) as site:
        yield Library(site)
