"""A server as its tests see it: the app behind it, and people who talk to it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from fastapi import FastAPI

from tests.engine.working import ended, in_state, working
from tests.server.api.shop import Shop
from tests.services.schedules import by_hand_only
from towpath import App, Job
from towpath.identity import accounts, tokens
from towpath.server import create_app, running

PEOPLE = {"ann": ("north", False), "bob": ("south", False), "root": ("harbour", True)}
"""Name: tenant, and whether an administrator."""


class Site:
    """`site.ann`, `site.bob` and `site.root` are HTTP clients of people in three tenants; `site.nobody` is logged out."""

    def __init__(self, app: App, shop: Shop, api: FastAPI) -> None:
        self.app, self.shop, self.api = app, shop, api
        self.nobody = client(api)
        self.ann = self.bob = self.root = self.nobody
        self.secrets: dict[str, str] = {}

    async def person(self, name: str, **token: Any) -> httpx.AsyncClient:
        """A client with a fresh token of this person."""
        account = await accounts.find_by_name(self.app.services.store, name)
        self.secrets[name], _ = await tokens.create(self.app.services.store, account, name="test", **token)
        return client(self.api, self.secrets[name])

    async def make(self, operation: str, payload: Any = None, *, tenant: str = "north", **options: Any) -> Job:
        return await self.app.enqueue(operation, payload, tenant=tenant, **options)

    async def done(self, operation: str, payload: Any = None, *, tenant: str = "north", **options: Any) -> Job:
        """A job that has ended."""
        job = await self.make(operation, payload, tenant=tenant, **options)
        async with working(self.app):
            return await ended(self.app, job)

    async def held(self, operation: str = "hold", tenant: str = "north") -> Job:
        """A job whose handler runs; a worker must be there."""
        job = await self.make(operation, "x", tenant=tenant)
        return await in_state(self.app, job, "running")


def client(api: Any, secret: str | None = None, base: str = "http://testserver") -> httpx.AsyncClient:
    """From another machine: what is for loopback only is not for it."""
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    transport = httpx.ASGITransport(api, client=("192.0.2.7", 50_000))
    return httpx.AsyncClient(transport=transport, base_url=base, headers=headers, timeout=30)


@asynccontextmanager
async def opened_site(app: App) -> AsyncIterator[Site]:
    shop = Shop(app)
    api = create_app(app)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(api))
        await by_hand_only(app)
        site = Site(app, shop, api)
        for name, (tenant, admin) in PEOPLE.items():
            await accounts.create(app.services.store, name, tenants=[tenant], admin=admin)
            setattr(site, name, await stack.enter_async_context(await site.person(name)))
        await stack.enter_async_context(site.nobody)
        yield site


def problem(response: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """The problem document of a refused request."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["type"] == f"/problems/{slug}", document
    return document


def ok(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()
