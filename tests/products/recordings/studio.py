"""Recordings as tests see them: people who upload over HTTP, and a worker that can be let in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx

from tests.engine.working import working
from tests.products.recordings.media import encoded, silence
from tests.server.api.site import Site, ok, opened_site
from towpath import App

ENDED = ("COMPLETED", "FAILED", "CANCELLED")
QUIET = encoded(silence(1.0), "wav")


class Studio:
    """`studio.ann` and `studio.bob` are clients of two tenants, `studio.root` is an administrator's."""

    def __init__(self, site: Site) -> None:
        self.site, self.app = site, site.app
        self.ann, self.bob, self.root, self.nobody = site.ann, site.bob, site.root, site.nobody

    @asynccontextmanager
    async def working(self, concurrency: int = 2) -> AsyncIterator[asyncio.Task[None]]:
        async with working(self.app, "transcription", "summary", "recordings", concurrency=concurrency) as task:
            yield task

    def working_on(self, *queues: str) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, *queues)

    async def upload(
        self, data: bytes = QUIET, name: str = "quiet.wav", *, by: httpx.AsyncClient | None = None, **fields: str
    ) -> dict[str, Any]:
        answer = await self.send(data, name, by=by, **fields)
        return ok(answer, 202)

    async def send(
        self, data: bytes, name: str = "quiet.wav", *, by: httpx.AsyncClient | None = None, **fields: str
    ) -> httpx.Response:
        return await (by or self.ann).post("/upload", files={"file": (name, data)}, data=fields)

    async def get(self, recording_id: str, by: httpx.AsyncClient | None = None) -> dict[str, Any]:
        return ok(await (by or self.ann).get(f"/api/recordings/{recording_id}"))

    async def until(self, recording_id: str, *statuses: str, within: float = 60.0) -> dict[str, Any]:
        """The recording as soon as it has one of these statuses."""

        async with asyncio.timeout(within):
            while True:
                found = await self.get(recording_id, self.root)
                if found["status"] in statuses:
                    return found
                await asyncio.sleep(0.05)  # asking costs more than waiting

    async def done(self, recording_id: str, within: float = 60.0) -> dict[str, Any]:
        """The recording once nothing is done with it any more."""
        return await self.until(recording_id, *ENDED, within=within)

    async def finished(self, data: bytes = QUIET, name: str = "quiet.wav", **fields: str) -> dict[str, Any]:
        """A recording that was uploaded and worked on to its end."""
        sent = await self.upload(data, name, **fields)
        async with self.working():
            return await self.done(sent["id"])

    async def jobs(self, by: httpx.AsyncClient | None = None) -> list[dict[str, Any]]:
        return ok(await (by or self.ann).get("/api/recordings/job-queue-status"))["jobs"]

    async def blobs(self) -> list[str]:
        return sorted([info.key async for info in self.app.services.blobs.list()])


@asynccontextmanager
async def opened_studio(app: App) -> AsyncIterator[Studio]:
    async with opened_site(app) as site:
        yield Studio(site)
