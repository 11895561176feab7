"""Secrets are nowhere but where they have to be: not in the log, not in the audit log, not in the database."""

import logging

from tests.http.site import PASSWORD, cookie_of
from towpath import Settings

NEW = "eleven loud lorries wait"
TABLES = ("account", "membership", "session", "token", "link", "throttle", "oidc_account", "oidc_flow", "audit")


async def test_a_day_in_the_life_of_an_account_leaves_no_secret_behind(any_site, caplog):
    """Everything that takes or gives a secret, once well and once badly; then all that was written is searched."""
    caplog.set_level(logging.DEBUG)
    root = await any_site.logged_in("root", admin=True)
    made = (await root.post("/api/users", json={"name": "alice", "tenants": ["acme"], "password": PASSWORD})).json()
    browser = any_site.browser()
    await browser.post("/api/session", json={"name": "alice", "password": "wrong quiet barges"})
    await browser.post("/api/session", json={"name": PASSWORD, "password": "alice"})
    await browser.post("/api/session", json={"name": "alice", "password": PASSWORD})
    cookies = {cookie_of(browser)}
    token = (await browser.post("/api/tokens", json={"name": "x", "scopes": ["read"]})).json()["token"]
    await any_site.program(token).get("/api/session")
    await browser.post("/api/session/password", json={"current": "wrong quiet barges", "new": NEW})
    await browser.post("/api/session/password", json={"current": PASSWORD, "new": NEW})
    link = (await root.post(f"/api/users/{made['id']}/reset-link")).json()["url"]
    secret = link.partition("token=")[2]
    await browser.get(f"/login?token={secret}")
    await browser.post("/api/session/reset", json={"token": secret, "password": "password1234"})
    await browser.post("/api/session/reset", json={"token": secret, "password": PASSWORD})
    cookies.add(cookie_of(browser))
    await browser.get("/api/session?token=oops")

    hidden = {PASSWORD, NEW, "wrong quiet barges", token, secret, *cookies}
    written = "\n".join(f"{record.getMessage()} {record.exc_text or ''}" for record in caplog.records if _ours(record))
    audited = (await root.get("/api/audit?limit=200")).text
    stored = str([await any_site.rows(f"SELECT * FROM towpath.{table}") for table in TABLES])
    for place in (written, audited, stored):
        assert [item for item in hidden if item in place] == []
    assert len((await root.get("/api/audit?limit=200")).json()["items"]) >= 8


def _ours(record):
    """Not the client's side of the conversation, nor the loop's."""
    return record.name.split(".")[0] not in ("httpx", "httpcore", "asyncio")


def test_the_providers_secret_is_not_shown_with_the_settings():
    assert "hunter2" not in repr(Settings(oidc_client_secret="hunter2"))
