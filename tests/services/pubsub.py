"""Google Cloud Pub/Sub for tests: its publish call, and push subscriptions that sign and deliver as the real one does.

There is no emulator in any registry. What matters is here: delivery at least once, again after any answer but a success,
and an OpenID token with each request.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from joserfc import jwt

from tests.http.openid import OpenIdProvider, first_key
from tests.http.serving import served

ACCOUNT = "pusher@project.iam.gserviceaccount.com"
AUDIENCE = "https://towpath.example/api/push/pubsub"


class PubSub:
    """`times` is how often every message is delivered."""

    def __init__(self, provider: OpenIdProvider) -> None:
        self.provider, self.push_to, self.times, self.key = provider, "", 1, first_key()
        self.endpoint = ""
        self.published: list[dict[str, Any]] = []
        self._numbers = count(1)
        self._delivering: set[asyncio.Task[None]] = set()
        self.api = FastAPI()
        self.api.post("/v1/projects/{project}/topics/{topic}:publish")(self._publish)
        self.api.get("/v1/projects/{project}/topics/{topic}")(self._topic)

    def token(self, **instead: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": self.provider.issuer, "aud": AUDIENCE, "azp": "1234", "sub": "1234", "email": ACCOUNT,
            "email_verified": True, "iat": now, "exp": now + 3600,
        }  # fmt: skip
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims | instead, self.key)

    async def _topic(self, project: str, topic: str) -> JSONResponse:
        if topic != "bells":
            return JSONResponse({"error": {"status": "NOT_FOUND"}}, 404)
        return JSONResponse({"name": f"projects/{project}/topics/{topic}"})

    async def _publish(self, request: Request) -> JSONResponse:
        ids = []
        for message in (await request.json())["messages"]:
            ids.append(str(next(self._numbers)))
            self.published.append(message)
            pushed = message | {"messageId": ids[-1], "message_id": ids[-1], "publishTime": "2026-01-01T00:00:00Z"}
            for _ in range(self.times):
                task = asyncio.create_task(self._deliver({"message": pushed, "subscription": "projects/p/subscriptions/s"}))
                self._delivering.add(task)
                task.add_done_callback(self._delivering.discard)
        return JSONResponse({"messageIds": ids})

    async def _deliver(self, body: dict[str, Any]) -> None:
        async with httpx.AsyncClient() as client:
            while True:
                headers = {"authorization": f"Bearer {self.token()}"}
                answer = await client.post(self.push_to, json=body, headers=headers)
                if answer.is_success:
                    return
                await asyncio.sleep(0.05)

    def close(self) -> None:
        for task in self._delivering:
            task.cancel()


@asynccontextmanager
async def pubsub_service() -> AsyncIterator[PubSub]:
    provider = OpenIdProvider()
    async with served(provider.api) as issuer:
        provider.issuer = f"http://127.0.0.1:{issuer}"
        service = PubSub(provider)
        async with served(service.api) as port:
            service.endpoint = f"http://127.0.0.1:{port}"
            try:
                yield service
            finally:
                service.close()
