"""POST /mcp: the Model Context Protocol over HTTP, for assistants with an API token.

Each request stands for itself: any server answers any of them, and nothing is kept between two. A tool asks this server's
own API with the token that the request came with.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import httpx
from fastapi import FastAPI, Request, Response
from starlette.types import Receive, Scope, Send

from towpath.http import bodies, csrf
from towpath.http.policy import TokenReader
from towpath.http.problems import Problem
from towpath.http.routing import Router
from towpath.http.state import exposure_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from towpath.assistants import Api

router = Router(include_in_schema=False)
bodies.large("POST", "/mcp")


@router.post("/mcp")
async def speak_with_assistant(_: TokenReader, request: Request) -> Response:
    """Pages of other sites are refused, even those that have got hold of a token."""
    refused = csrf.foreign_origin(request.headers, exposure_of(request).base_url)
    if refused is not None:
        raise refused
    manager: StreamableHTTPSessionManager | None = getattr(request.app.state, "towpath_assistants", None)
    if manager is None:
        raise Problem(
            "unavailable", 503, "this server does not speak with assistants", remedy="install it: pip install 'towpath[mcp]'"
        )  # fmt: skip
    return _HandedOver(manager)


class _HandedOver(Response):
    """The answer is written by the SDK."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


class Speaker:
    """Speaks while the server runs, in a task of its own: the SDK wants to be left by the task that has entered it, and a
    server's lifespan need not be. Without the extra there is nobody who could speak, and requests are told so."""

    def __init__(self, api: FastAPI) -> None:
        self._api = api
        self._ready, self._over = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if find_spec("mcp") is None:
            return
        self._task = asyncio.create_task(self._run())
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        self._over.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        manager = _manager(self._api)
        async with manager.run():
            self._api.state.towpath_assistants = manager
            self._ready.set()
            await self._over.wait()
            self._api.state.towpath_assistants = None


def _manager(api: FastAPI) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from towpath.assistants import server_of

    # Host and Origin have been looked at before anything gets here; see towpath.http.hosts and csrf.
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    settings = api.state.towpath_app.settings
    return StreamableHTTPSessionManager(
        server_of(lambda ctx: _own_api(api, ctx.request)), stateless=True, security_settings=checked,
        max_request_body_size=settings.max_payload_bytes + bodies.MARGIN,
    )  # fmt: skip


@asynccontextmanager
async def _own_api(api: FastAPI, request: Any) -> AsyncIterator[Api]:
    """This server's API as the caller of this request may use it: with the caller's token, name and address."""
    from towpath.assistants import Api

    root = str(request.scope.get("root_path", ""))
    address = (request.client.host, request.client.port) if request.client else ("", 0)
    transport = httpx.ASGITransport(api, client=address, root_path=root, raise_app_exceptions=False)
    headers = {"Authorization": request.headers["authorization"], "Host": request.headers["host"]}
    async with httpx.AsyncClient(transport=transport, base_url="http://towpath", headers=headers, timeout=None) as client:
        yield Api(client)
