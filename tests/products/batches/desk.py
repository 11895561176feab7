"""Batches as tests see them: people who send requests over HTTP, a provider that answers them, and a worker to let in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx

from tests.engine.working import working
from tests.providers.scripted import ScriptedProvider
from tests.server.api.site import Site, ok, opened_site
from towpath import App
from towpath.providers import Files, Grade, Order, Prepared, Result

ENDED = ("COMPLETED", "PARTIAL_COMPLETE", "FAILED", "CANCELLED")


class EchoProvider(ScriptedProvider):
    """Answers each request with what was asked; a body with `fail` gets an error until `cures` is set, one with `silent` no
    result."""

    def __init__(self, grade: Grade = Grade.LISTED, looks: int = 2) -> None:
        super().__init__(grade, looks)
        self.requests: dict[str, list[dict[str, Any]]] = {}
        self.cures = False

    async def prepare(self, order: Order, files: Files) -> Prepared:
        data = b"".join([piece async for piece in files.open(order.requests or "")])
        self.requests[order.key] = [json.loads(line) for line in data.splitlines()]
        assert len(self.requests[order.key]) == order.count
        return await super().prepare(order, files)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        for line in reversed(self.requests[order.key]):
            body, ref = line["body"], line["custom_id"]
            if body.get("silent"):
                continue
            if body.get("fail") in (True, order.model) and not self.cures:
                yield Result(ref, None, "it did not work", "server_error")
            else:
                yield Result(ref, {"echo": body["say"], "by": order.model}, tokens_in=10, tokens_out=5)
        yield Result("stranger", {"echo": "nobody asked"})


class Desk:
    """`desk.ann` and `desk.bob` are clients of two tenants, `desk.root` is an administrator's."""

    def __init__(self, site: Site) -> None:
        self.site, self.app = site, site.app
        self.ann, self.bob, self.root, self.nobody = site.ann, site.bob, site.root, site.nobody

    def working(self, concurrency: int = 2) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, "batches", "batches.care", "default", concurrency=concurrency)

    def working_on(self, queue: str) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, queue)

    async def send(self, requests: list[Any] | None = None, *, by: httpx.AsyncClient | None = None, **more: Any) -> Any:
        asked = {"provider": "SCRIPTED", "models": ["m1"]} | more
        return await (by or self.ann).post(
            "/api/batches/completion", json=asked | ({} if requests is None else {"requests": requests})
        )

    async def make(self, requests: list[Any] | None = None, **more: Any) -> str:
        made = ok(await self.send(requests, **more), 202)
        assert made["status"] == "PENDING"
        return made["id"]

    async def get(self, batch_id: str) -> dict[str, Any]:
        return ok(await self.ann.get(f"/api/batches/{batch_id}"))

    async def until(self, batch_id: str, *statuses: str, within: float = 60.0) -> dict[str, Any]:
        async with asyncio.timeout(within):
            while True:
                found = await self.get(batch_id)
                if found["status"] in statuses:
                    return found
                await asyncio.sleep(0.05)  # asking costs more than waiting

    async def done(self, batch_id: str) -> dict[str, Any]:
        return await self.until(batch_id, *ENDED)

    async def finished(self, requests: list[Any] | None = None, **more: Any) -> dict[str, Any]:
        batch_id = await self.make(requests, **more)
        async with self.working():
            return await self.done(batch_id)

    async def results(self, batch_id: str) -> list[dict[str, Any]]:
        answer = await self.ann.get(f"/api/batches/{batch_id}/results")
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    async def blobs(self) -> list[str]:
        return sorted([info.key async for info in self.app.blobs.list()])


def request(name: str, **body: Any) -> dict[str, Any]:
    return {"custom_id": name, "body": {"say": name} | body}


@asynccontextmanager
async def opened_desk(app: App, provider: ScriptedProvider | None = None) -> AsyncIterator[Desk]:
    if provider is not None:
        app.provider(provider.name, lambda: provider)
    async with opened_site(app) as site:
        yield Desk(site)
