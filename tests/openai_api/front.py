"""OpenAI's API as its programs see it: through the official library, over HTTP."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
from openai import AsyncOpenAI
from openai.types import Batch

from tests.engine.working import working
from tests.models.wire_server import Answer, Asked
from tests.server.api.site import Site

ENDED = ("completed", "failed", "expired", "cancelled")


class Front:
    """`front.ann` and `front.bob` are programs of two tenants."""

    def __init__(self, site: Site, url: str) -> None:
        self.site, self.app, self.url = site, site.app, url
        self.ann, self.bob = self.program(site.secrets["ann"]), self.program(site.secrets["bob"])

    def program(self, key: str) -> AsyncOpenAI:
        # The library believes what it is told; with this it compares every answer with its own models.
        return AsyncOpenAI(
            api_key=key, base_url=f"{self.url}/v1", max_retries=0, timeout=60, _strict_response_validation=True
        )

    def raw(self, name: str | None = "ann") -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.site.secrets[name]}"} if name else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60)

    def working(self) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, "batches", "batches.care", "transcription", "recordings", "default", concurrency=4)

    async def upload(self, lines: list[Any] | bytes, by: AsyncOpenAI | None = None, purpose: Any = "batch") -> str:
        data = lines if isinstance(lines, bytes) else b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        made = await (by or self.ann).files.create(file=("in.jsonl", io.BytesIO(data)), purpose=purpose)
        return made.id

    async def batch(self, lines: list[Any] | bytes, **more: Any) -> Batch:
        return await self.ann.batches.create(
            input_file_id=await self.upload(lines), endpoint="/v1/chat/completions", completion_window="24h", **more
        )

    async def ended(self, batch: Batch) -> Batch:
        async with asyncio.timeout(60):
            while batch.status not in ENDED:
                await asyncio.sleep(0.05)  # asking costs more than waiting
                batch = await self.ann.batches.retrieve(batch.id)
        return batch

    async def done(self, lines: list[Any] | bytes, **more: Any) -> Batch:
        batch = await self.batch(lines, **more)
        async with self.working():
            return await self.ended(batch)

    async def lines(self, file_id: str | None) -> list[dict[str, Any]]:
        assert file_id is not None
        content = await self.ann.files.content(file_id)
        return [json.loads(line) for line in content.text.splitlines()]

    async def close(self) -> None:
        await self.ann.close()
        await self.bob.close()


def asks(name: str, model: str = "m", **more: Any) -> dict[str, Any]:
    body = {"model": model, "messages": [{"role": "user", "content": name}]}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body} | more


def echo(asked: Asked) -> Answer:
    said = asked.json()["messages"][0]["content"]
    if said.startswith("bad"):
        return Answer({"error": {"message": "the context is too long"}}, status=400)
    choice = {"index": 0, "message": {"role": "assistant", "content": said.upper()}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    told = {"id": "chat-1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage}
    return Answer(told | {"model": asked.json()["model"]})
