"""A server for nobody but this process: asked through memory, by a token that ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx

from towpath.engine.app import App
from towpath.identity import tokens
from towpath.identity.local import ensure_local_account
from towpath.server import ServerOptions, attach, create_app, running

_NAME = "towpath mcp"
_LONGEST_DAYS = 30.0
"""Should this process be killed, its token is good for nothing after that; it was never written down anywhere."""
_CONCURRENCY = 2


@asynccontextmanager
async def own_server(url: str, *, work: bool) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the rights of whoever may open the database. `work`: a worker runs beside it until the end."""
    app = attach(App(url))
    async with app:
        store = app.services.store
        account = await ensure_local_account(app)
        secret, token = await tokens.create(
            store, account, name=_NAME, scopes=("read", "write"), days=_LONGEST_DAYS
        )  # fmt: skip
        api = create_app(app, ServerOptions(local=True, ui=False))
        worker = asyncio.create_task(app.run_worker(concurrency=_CONCURRENCY, name=_NAME)) if work else None
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 0), raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {secret}"}
        try:
            async with running(api), httpx.AsyncClient(
                transport=transport, base_url="http://localhost", headers=headers, timeout=None
            ) as client:  # fmt: skip
                yield client
        finally:
            if worker is not None:
                worker.cancel()
                with suppress(asyncio.CancelledError):
                    await worker
            await tokens.revoke(store, token.id)
