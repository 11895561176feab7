"""What the audit log remembers."""

import logging

import pytest
from fastapi import Request

from tests.http.site import PASSWORD, opened_site, problem
from towpath.core.errors import StoreUnavailable
from towpath.http import audit
from towpath.http.audit import audit as note
from towpath.http.policy import Writer
from towpath.http.routing import Router


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
    router = Router(prefix="/api/silent")

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


def break_the_log(monkeypatch):
    def broken(*_):
        raise ValueError("this cannot be written down")

    monkeypatch.setattr(audit, "_values", broken)


async def test_an_answer_is_not_taken_back_because_its_line_could_not_be_written(site, monkeypatch, caplog):
    alice = await site.logged_in("alice", tenants=["acme", "other"])
    break_the_log(monkeypatch)
    assert (await alice.post("/api/session/tenant", json={"tenant": "other"})).status_code == 200
    [record] = [record for record in caplog.records if "missing in the audit log" in record.message]
    assert "session.tenant" in record.message
    assert record.levelno == logging.ERROR


WHOLE = [  # in this order: what is removed comes last
    ("POST", "/api/users", {"name": "bob", "tenants": ["acme"]}),
    ("PATCH", "/api/users/{user}", {"admin": True}),
    ("POST", "/api/users/{user}/reset-link", None),
    ("POST", "/api/tokens", {"name": "x", "scopes": ["read"]}),
    ("POST", "/api/webhooks", {"url": "http://127.0.0.1/other"}),
    ("PATCH", "/api/webhooks/{webhook}", {"states": ["failed"]}),
    ("POST", "/api/webhooks/{webhook}/test", None),
    ("PUT", "/api/settings/prices", {"m": {"input_per_million_cents": 1, "output_per_million_cents": 2}}),
    ("PUT", "/api/limits/acme", {"cents": 5}),
    ("DELETE", "/api/limits/acme", None),
    ("POST", "/api/queues/webhooks/pause", None),
    ("POST", "/api/queues/webhooks/resume", None),
    ("PATCH", "/api/queues/webhooks", {"max_slots": 3}),
    ("PUT", "/api/queues/webhooks/lanes/acme", {"weight": 2}),
    ("POST", "/api/schedules/nightly/pause", None),
    ("POST", "/api/schedules/nightly/resume", None),
    ("POST", "/api/schedules/nightly/fire", None),
    ("DELETE", "/api/webhooks/{webhook}", None),
    ("DELETE", "/api/tokens/{token}", None),
    ("DELETE", "/api/users/{user}", None),
]
TABLES = (
    "account", "membership", "token", "link", "webhook", "webhook_delivery", "price", "spend_limit", "queue", "lane",
    "schedule", "job",
)  # fmt: skip


async def contents(site):
    return {table: sorted(map(str, await site.rows(f"SELECT * FROM towpath.{table}"))) for table in TABLES}


@pytest.fixture(params=["sqlite", "postgres"])
async def administered(request, tmp_path):
    """A site with something of everything, and its administrator."""
    url = request.getfixturevalue(f"{request.param}_url")
    async with opened_site(url, tmp_path, allow_private_urls=True, prepare=with_schedule) as site:
        root = await site.logged_in("root", admin=True)
        user = await site.account("alice")
        await site.token(user)
        [token] = (await root.get("/api/tokens")).json()["items"]
        webhook = (await root.post("/api/webhooks", json={"url": "http://127.0.0.1/hook"})).json()
        yield site, root, {"user": user.id, "token": token["id"], "webhook": webhook["id"]}


def with_schedule(app):
    @app.operation("sweep")
    async def sweep(_ctx):
        pass

    app.schedule("nightly", "0 3 * * *", "sweep")


async def test_what_is_one_unit_is_done_with_its_line_or_not_at_all(administered, monkeypatch):
    site, root, ids = administered
    for method, template, body in WHOLE:
        path, before, told = template.format(**ids), await contents(site), await lines(root)
        with monkeypatch.context() as patch:
            break_the_log(patch)
            problem(await root.request(method, path, json=body), 500, "internal")
        assert (await contents(site), await lines(root)) == (before, told), (method, path)
        assert (await root.request(method, path, json=body)).is_success, (method, path)
        assert await contents(site) != before, (method, path)
        assert len(await lines(root)) == len(told) + 1, (method, path)


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
