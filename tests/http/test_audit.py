"""What the audit log remembers."""

import logging

import pytest
from fastapi import APIRouter, Request

from tests.http.site import PASSWORD, problem
from towpath.core.errors import StoreUnavailable
from towpath.http import audit
from towpath.http.audit import audit as note
from towpath.http.policy import Writer


async def lines(client, **query):
    return (await client.get("/api/audit", params=query)).json()["items"]


async def test_what_was_done_is_there_with_who_where_and_when(any_site):
    root = await any_site.logged_in("root", admin=True)
    made = (await root.post("/api/users", json={"name": "alice", "tenants": ["acme"]})).json()
    [line, login] = await lines(root)
    assert (line["account"], line["via"], line["tenant"]) == ("root", "session", "acme")
    assert (line["action"], line["target"], line["address"]) == ("user.create", made["id"], "203.0.113.7")
    assert line["details"] == {"name": "alice", "admin": False, "tenants": ["acme"]}
    assert line["at"] >= login["at"]
    assert login["action"] == "session.login_by_link"


async def test_a_refused_log_in_is_there_without_what_was_typed(any_site):
    await any_site.account("alice")
    for name, password in (("Alice", "wrong quiet barges"), ("four quiet barges pass", "x")):
        await any_site.browser().post("/api/session", json={"name": name, "password": password})
    root = await any_site.logged_in("root", admin=True)
    found = [line for line in await lines(root) if line["action"] == "session.refused"]
    assert [line["target"] for line in found] == [None, "alice"]
    assert all(line["via"] == "nobody" for line in found)
    assert "barges" not in str(found)


@pytest.fixture
async def with_silent_route(site):
    """A site with a route that says nothing about what it does."""
    router = APIRouter(prefix="/api/silent")

    @router.post("/{thing}")
    async def move_thing(_principal: Writer, thing: str, fail: bool = False) -> str:
        if fail:
            raise StoreUnavailable("no")
        return thing

    @router.get("/{thing}")
    async def see_thing(_principal: Writer, thing: str) -> str:
        return thing

    site.api.include_router(router)
    site.api.router.routes.insert(0, site.api.router.routes.pop())  # before the UI's page for every address
    return site


async def test_a_route_that_says_nothing_gets_a_line_all_the_same(with_silent_route):
    alice = await with_silent_route.logged_in("alice")
    assert (await alice.post("/api/silent/stone")).status_code == 200
    root = await with_silent_route.logged_in("root", admin=True)
    [line] = [line for line in await lines(root) if line["account"] == "alice" and "login" not in line["action"]]
    assert (line["action"], line["target"]) == ("move_thing", "stone")


async def test_what_failed_and_what_only_looked_leaves_no_line(with_silent_route):
    alice = await with_silent_route.logged_in("alice")
    problem(await alice.post("/api/silent/stone?fail=true"), 503, "unavailable")
    assert (await alice.get("/api/silent/stone")).status_code == 200
    root = await with_silent_route.logged_in("root", admin=True)
    assert [line["action"] for line in await lines(root) if line["account"] == "alice"] == ["session.login_by_link"]


async def test_an_answer_is_not_taken_back_because_its_line_could_not_be_written(site, monkeypatch, caplog):
    alice = await site.logged_in("alice")

    async def broken(*_):
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(audit, "write", broken)
    assert (await alice.post("/api/tokens", json={"name": "x", "scopes": ["read"]})).status_code == 201
    [record] = [record for record in caplog.records if "missing in the audit log" in record.message]
    assert "token.create" in record.message
    assert record.levelno == logging.ERROR


@pytest.mark.parametrize("name", ["password", "new_password", "client_secret", "session_token", "Authorization"])
def test_a_secret_is_refused_by_its_name(name):
    with pytest.raises(ValueError, match="must not be in the audit log"):
        note(Request({"type": "http"}), "user.create", **{name: PASSWORD})


async def test_lines_come_in_pages_the_newest_first_and_for_one_account(any_site):
    root = await any_site.logged_in("root", admin=True)
    own = (await root.get("/api/session")).json()["account"]["id"]
    for number in range(4):
        await root.post("/api/tokens", json={"name": f"t{number}", "scopes": ["read"]})
    await any_site.logged_in("alice")
    seen, after = [], None
    while True:
        page = (
            await root.get("/api/audit", params={"limit": 2, "account": own} | ({"after": after} if after else {}))
        ).json()
        seen += page["items"]
        after = page["next"]
        if after is None:
            break
    assert [line["id"] for line in seen] == sorted((line["id"] for line in seen), reverse=True)
    assert [(line["details"] or {}).get("name") for line in seen] == ["t3", "t2", "t1", "t0", None]


async def test_only_administrators_read_it(site):
    problem(await (await site.logged_in("alice")).get("/api/audit"), 403, "forbidden")
