"""A real server on each database, with a chat endpoint behind it, and programs of two tenants in front of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.models.wire_server import WireServer
from tests.openai_api.front import Front, echo
from tests.products.batches.conftest import postgres_url
from tests.server.api.conftest import server_template, sqlite_template, sqlite_url
from tests.server.api.site import opened_site
from tests.server.push.serving import serving
from towpath import App, Settings

__all__ = ["postgres_url", "server_template", "sqlite_template", "sqlite_url"]


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        server.always = echo
        yield server


@pytest.fixture
def settings(tmp_path: Path, wire: WireServer) -> Settings:
    made = Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)
    return replace(made, chat_url=wire.url, chat_model="m", poll_interval_seconds=0.05, model_timeout_seconds=30.0)


@pytest.fixture
async def front(database_url: str, settings: Settings) -> AsyncIterator[Front]:
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(opened_site(App(database_url, settings=settings)))
        url = await stack.enter_async_context(serving(site.api, lifespan="off"))
        front = Front(site, url)
        stack.push_async_callback(front.close)
        yield front
