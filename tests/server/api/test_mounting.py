"""The server inside somebody's own ASGI app: below a path, with its lifespan run by the outer one."""

from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI

from tests.server.api.shop import Shop
from tests.server.api.site import client, ok, problem
from towpath import App, ConfigurationError
from towpath.identity import accounts, tokens
from towpath.server import attach, create_app, running

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def outer_app(server: FastAPI) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_outer: FastAPI):
        async with running(server):
            yield

    outer = FastAPI(lifespan=lifespan)

    @outer.get("/hello")
    async def hello() -> str:
        return "hello"

    outer.mount("/tools/jobs", server)
    return outer


async def person(app: App) -> str:
    account = await accounts.create(app.services.store, "ann", tenants=["north"])
    secret, _ = await tokens.create(app.services.store, account, name="test")
    return secret


async def test_everything_works_below_the_path_it_is_mounted_at(app: App):
    Shop(app)
    outer = outer_app(create_app(app))
    async with outer.router.lifespan_context(outer):
        assert app.home is not None
        async with client(outer, await person(app)) as ann:
            assert ok(await ann.get("/hello")) == "hello"
            response = await ann.post("/tools/jobs/api/jobs", json={"operation": "greet", "payload": {"name": "n"}})
            location = response.headers["location"]
            assert location.startswith("/tools/jobs/api/jobs/")
            assert ok(await ann.get(location))["id"] == ok(response, 201)["id"]
            assert ok(await ann.get("/tools/jobs/healthz"))["status"] == "ok"
            problem(await ann.get("/tools/jobs/api/unheard"), 404, "not_found")
            assert (await ann.get("/api/jobs")).status_code == 404
    assert app.home is None


async def test_an_app_that_is_open_stays_open(app: App):
    Shop(app)
    async with attach(app):
        server = create_app(app)
        async with running(server), client(server) as nobody:
            assert ok(await nobody.get("/readyz"))["status"] == "ok"
        assert await app.list() == []


async def test_an_app_that_was_opened_without_the_servers_tables_is_refused(app: App):
    async with app:
        with pytest.raises(ConfigurationError, match="before the app is opened"):
            create_app(app)


async def test_without_its_lifespan_it_says_that_it_is_not_available(app: App):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(app)), base_url="http://testserver") as nobody:
        assert ok(await nobody.get("/healthz"))["status"] == "ok"
        problem(await nobody.get("/readyz"), 503, "unavailable")
        problem(await nobody.get("/api/jobs", headers={"Authorization": "Bearer tow_x"}), 503, "unavailable")
