"""A server in this process, and the browsers and programs that call it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from towpath import App, Settings
from towpath.http.cookies import COOKIE
from towpath.identity import accounts, links, passwords, tokens
from towpath.server import ServerOptions, create_app

PASSWORD = "four quiet barges pass"
HOST = "http://towpath.test"


class Site:
    """An open app with its server. Requests go straight into the ASGI app."""

    def __init__(self, app, api, base=HOST):
        self.app, self.api, self.base = app, api, base
        self.store = app.services.store

    def browser(self, **headers):
        """A client that keeps cookies and says where its requests come from, as browsers do."""
        return self.program(origin=self.base, **headers)

    def program(self, token=None, *, address="203.0.113.7", **headers):
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        transport = httpx.ASGITransport(self.api, client=(address, 4711))
        return httpx.AsyncClient(transport=transport, base_url=self.base, headers=headers)

    async def account(self, name, *, tenants=("acme",), admin=False, password=PASSWORD):
        hashed = None if password is None else await passwords.hashed(password)
        return await accounts.create(self.store, name, tenants=tenants, admin=admin, password=hashed)

    async def logged_in(self, name, **options):
        """A browser of a new account."""
        account = await self.account(name, password=None, **options)
        async with self.browser() as first:
            await self.enter(first, account.id)
            browser = self.browser()
            browser.cookies.set(COOKIE, cookie_of(first))
        return browser

    async def enter(self, browser, account_id):
        secret, _ = await links.make(self.store, account_id, "login")
        answer = await browser.post("/api/session/link", json={"token": secret})
        assert answer.status_code == 200, answer.text
        return answer

    async def token(self, account, **options):
        secret, _ = await tokens.create(self.store, account, name="test", **options)
        return secret

    async def rows(self, sql, *params):
        async def unit(tx):
            return [dict(row) for row in await tx.fetch_sql(_table_names(sql, tx.dialect), *params)]

        return await self.store.read(unit)


def _table_names(sql, dialect):
    return sql.replace("towpath.", "towpath_") if dialect == "sqlite" else sql


def cookie_of(browser):
    return browser.cookies.get(COOKIE)


def problem(answer, status, slug):
    """The problem document of an answer, once it is what it should be."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"/problems/{slug}"
    assert document["status"] == status
    assert document["instance"] == answer.headers["x-request-id"]
    return document


@asynccontextmanager
async def opened_site(url, tmp_path, *, local=False, clock=None, base=HOST, prepare=None, **settings) -> AsyncIterator[Site]:
    chosen = Settings(blobs_url=(tmp_path / "blobs").as_uri(), **settings)
    app = App(url, settings=chosen) if clock is None else App(url, settings=chosen, clock=clock)
    if prepare is not None:
        prepare(app)
    api = create_app(app, ServerOptions(local=local))
    async with app:
        yield Site(app, api, base)
