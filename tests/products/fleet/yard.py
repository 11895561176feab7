"""A fleet as tests see it: people who send files, a worker of the engine, and remote workers over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx

from tests.engine.working import working
from tests.products.fleet.operations import DAWDLE, SHOUT, STUMBLE
from tests.server.api.site import Site, ok, opened_site
from towpath import App, assets
from towpath.fleet.messages import HandedTask, StatusReport
from towpath.fleet.node.node import Node
from towpath.fleet.node.over_https import OverHttps
from towpath.fleet.recovering import Recovering

ENDED = ("COMPLETED", "FAILED", "CANCELLED")
QUEUES = ("fleet", "fleet.buckets", "fleet.care", "default")


class Yard:
    """`yard.ann` and `yard.bob` are clients of two tenants, `yard.root` is an administrator's."""

    def __init__(self, site: Site) -> None:
        self.site, self.app = site, site.app
        self.ann, self.bob, self.root, self.nobody = site.ann, site.bob, site.root, site.nobody
        self.transport = httpx.ASGITransport(site.api, client=("192.0.2.9", 40_000))

    def working(self, concurrency: int = 4) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, *QUEUES, concurrency=concurrency)

    async def file(self, data: bytes = b"a quiet barge", name: str = "barge.txt", *, tenant: str = "north") -> str:
        async def pieces() -> AsyncIterator[bytes]:
            yield data

        return (await assets.receive(self.app, tenant, name, pieces(), kinds=None, created_by=None)).id

    async def make(self, operation: str = SHOUT, data: bytes = b"a quiet barge", **more: Any) -> str:
        asked = {"asset_id": await self.file(data), "operation": operation} | more
        return str(ok(await self.ann.post("/api/fleet/tasks", json=asked), 202)["id"])

    async def task(self, task_id: str, by: httpx.AsyncClient | None = None) -> Any:
        return ok(await (by or self.ann).get(f"/api/fleet/tasks/{task_id}"))

    async def until(self, task_id: str, *statuses: str, within: float = 60.0) -> Any:
        async with asyncio.timeout(within):
            while True:
                found = await self.task(task_id)
                if found["status"] in statuses and (found["status"] != "FAILED" or found["retry_at"] is None):
                    return found
                await asyncio.sleep(0.03)  # asking costs more than waiting

    async def done(self, task_id: str) -> Any:
        return await self.until(task_id, *ENDED)

    async def token(self, name: str = "barge-1", **more: Any) -> tuple[str, str]:
        made = ok(await self.root.post("/api/fleet/workers", json={"name": name} | more), 201)
        return made["id"], made["token"]

    async def hand(self, name: str = "by hand", **more: Any) -> Hand:
        worker_id, token = await self.token(name, **more)
        return Hand(worker_id, token, self.transport)

    @asynccontextmanager
    async def node(self, name: str = "barge-1", **more: Any) -> AsyncIterator[Node]:
        """A remote worker; leaving the block stops it."""
        worker_id, token = await self.token(name)
        channel = OverHttps("http://testserver", token, self.transport)
        more = {"asks_for": 1.0, "drain_seconds": 0.0} | more
        node = Node(channel, worker_id, transport=self.transport, **more)
        running = asyncio.create_task(node.run())
        try:
            yield node
        finally:
            node.stop()
            await asyncio.wait_for(running, 30)

    async def recover(self) -> int:
        return await Recovering(self.app).recover()

    async def result(self, task_id: str) -> bytes:
        return (await self.ann.get(f"/api/fleet/tasks/{task_id}/result")).content


class Hand:
    """A worker that tests move by hand, and that may lie."""

    def __init__(self, worker_id: str, token: str, transport: httpx.AsyncBaseTransport) -> None:
        self.id = worker_id
        self.client = httpx.AsyncClient(
            base_url="http://testserver", transport=transport, headers={"Authorization": f"Bearer {token}"}, timeout=30
        )
        self.sequence = 0

    async def claim(self, *operations: str, wait_seconds: float = 20) -> HandedTask | None:
        asked = {"operations": list(operations) or [SHOUT, STUMBLE, DAWDLE], "wait_seconds": wait_seconds}
        told = ok(await self.client.post("/api/fleet/claim", json=asked))["task"]
        return None if told is None else HandedTask.model_validate(told)

    async def claimed(self, *operations: str) -> HandedTask:
        found = await self.claim(*operations)
        assert found is not None
        return found

    async def say(self, task: HandedTask, status: str, **more: Any) -> Any:
        self.sequence += 1
        told = {
            "task": task.task, "attempt": task.attempt, "secret": task.secret, "worker_id": self.id,
            "sequence": self.sequence, "status": status,
        } | more  # fmt: skip
        return ok(await self.client.post("/api/fleet/status", json=told))

    async def put(self, task: HandedTask, data: bytes) -> dict[str, Any]:
        """Stores a result, and answers what an honest worker says of it."""
        headers = {"Content-Type": "application/octet-stream", "Authorization": ""}
        answer = await self.client.put(task.put_url, content=data, headers=headers)
        assert answer.status_code == 204, answer.text
        return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def report(task: HandedTask, worker_id: str, sequence: int, status: str, **more: Any) -> StatusReport:
    told = {
        "task": task.task, "attempt": task.attempt, "secret": task.secret, "worker_id": worker_id, "sequence": sequence,
        "status": status,
    } | more  # fmt: skip
    return StatusReport.model_validate(told)


@asynccontextmanager
async def opened_yard(app: App) -> AsyncIterator[Yard]:
    async with opened_site(app) as site:
        yield Yard(site)
