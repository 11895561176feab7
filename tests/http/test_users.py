"""Accounts as administrators look after them."""

import asyncio

import pytest

from tests.http.site import PASSWORD, problem
from towpath import SchemaInvalid
from towpath.identity import accounts
from towpath.identity.errors import AccountConflict
from towpath.identity.local import ensure_local_account

NOBODY = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"


@pytest.fixture
async def root(any_site):
    return await any_site.logged_in("root", admin=True)


async def test_an_administrator_makes_an_account_that_can_log_in(any_site, root):
    asked = {"name": "alice", "tenants": ["acme", "globex"], "password": PASSWORD}
    answer = await root.post("/api/users", json=asked)
    assert answer.status_code == 201
    made = answer.json()
    assert made | {"id": "", "created_at": ""} == {
        "id": "", "name": "alice", "admin": False, "tenants": ["acme", "globex"], "created_at": "", "last_seen_at": None,
        "disabled": False, "has_password": True,
    }  # fmt: skip
    assert [item["name"] for item in (await root.get("/api/users")).json()["items"]] == ["root", "alice"]
    answer = await any_site.browser().post("/api/session", json={"name": "alice", "password": PASSWORD})
    assert answer.status_code == 200


async def test_a_reset_link_lets_a_new_account_choose_its_password(any_site, root):
    made = (await root.post("/api/users", json={"name": "alice", "tenants": ["acme"]})).json()
    assert made["has_password"] is False
    link = (await root.post(f"/api/users/{made['id']}/reset-link")).json()
    address, _, secret = link["url"].partition("?token=")
    assert address == f"{any_site.base}/reset"
    answer = await any_site.browser().post("/api/session/reset", json={"token": secret, "password": PASSWORD})
    assert answer.status_code == 200


async def test_a_name_is_taken_in_every_spelling(any_site, root):
    await root.post("/api/users", json={"name": "Straße", "tenants": ["acme"]})
    problem(await root.post("/api/users", json={"name": "STRASSE", "tenants": ["acme"]}), 409, "conflict")


async def test_of_many_accounts_of_one_name_one_is_made(any_site, root):
    asked = {"name": "alice", "tenants": ["acme"]}
    answers = await asyncio.gather(*(root.post("/api/users", json=asked) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 5


@pytest.mark.parametrize("name", ["", " alice", "alice ", "a\x00b", "a\nb", "x" * 201, "\u202ealice"])
async def test_a_name_that_cannot_be_told_from_another_is_refused(site, name):
    with pytest.raises(SchemaInvalid, match="name"):
        await accounts.create(site.store, name, tenants=["acme"])


async def test_an_account_belongs_to_at_least_one_tenant(site):
    with pytest.raises(SchemaInvalid, match="at least one tenant"):
        await accounts.create(site.store, "alice", tenants=[])


async def test_disabling_an_account_logs_it_out_everywhere(any_site, root):
    account = await any_site.account("alice")
    browser, program = any_site.browser(), any_site.program(await any_site.token(account))
    await any_site.enter(browser, account.id)
    answer = await root.patch(f"/api/users/{account.id}", json={"disabled": True})
    assert answer.json()["disabled"] is True
    for client in (browser, program):
        problem(await client.get("/api/session"), 401, "unauthenticated")
    await root.patch(f"/api/users/{account.id}", json={"disabled": False})
    assert (await program.get("/api/session")).status_code == 200
    problem(await browser.get("/api/session"), 401, "unauthenticated")


async def test_deleting_an_account_takes_everything_of_its_along(any_site, root):
    account = await any_site.account("alice")
    browser, program = any_site.browser(), any_site.program(await any_site.token(account))
    await any_site.enter(browser, account.id)
    await root.post(f"/api/users/{account.id}/reset-link")
    assert (await root.delete(f"/api/users/{account.id}")).status_code == 204
    for client in (browser, program):
        problem(await client.get("/api/session"), 401, "unauthenticated")
    for table in ("session", "token", "link", "membership"):
        assert await any_site.rows(f"SELECT * FROM towpath.{table} WHERE account_id = '{account.id}'") == []
    problem(await root.delete(f"/api/users/{account.id}"), 404, "not_found")


async def test_tenants_and_role_can_be_changed_and_what_is_left_out_stays(any_site, root):
    account = await any_site.account("alice")
    answer = await root.patch(f"/api/users/{account.id}", json={"tenants": ["globex", "acme"]})
    assert (answer.json()["tenants"], answer.json()["admin"]) == (["acme", "globex"], False)
    answer = await root.patch(f"/api/users/{account.id}", json={"admin": True})
    assert (answer.json()["tenants"], answer.json()["admin"]) == (["acme", "globex"], True)


async def test_nobody_locks_themselves_out(site):
    root = await site.logged_in("root", admin=True)
    await site.account("other", admin=True)
    own = (await root.get("/api/session")).json()["account"]["id"]
    problem(await root.patch(f"/api/users/{own}", json={"disabled": True}), 409, "conflict")
    problem(await root.patch(f"/api/users/{own}", json={"admin": False}), 409, "conflict")
    problem(await root.delete(f"/api/users/{own}"), 409, "conflict")


async def test_two_administrators_who_demote_each_other_do_not_both_succeed(any_site):
    one, two = await any_site.account("one", admin=True), await any_site.account("two", admin=True)
    outcomes = await asyncio.gather(
        accounts.change(any_site.store, one.id, admin=False),
        accounts.change(any_site.store, two.id, disabled=True),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes].count(AccountConflict) == 1


async def test_the_account_of_local_mode_stays_as_it_is_and_counts_for_nobody_else(site):
    local = await ensure_local_account(site.app)
    only = await site.account("only", admin=True)
    root = await site.logged_in("root", admin=True)
    problem(await root.delete(f"/api/users/{local.id}"), 409, "conflict")
    problem(await root.patch(f"/api/users/{local.id}", json={"disabled": True}), 409, "conflict")
    problem(await root.post(f"/api/users/{local.id}/reset-link"), 409, "conflict")
    own = (await root.get("/api/session")).json()["account"]["id"]
    await accounts.change(site.store, own, admin=False)
    with pytest.raises(AccountConflict, match="last administrator"):
        await accounts.change(site.store, only.id, admin=False)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("POST", ""), ("PATCH", f"/{NOBODY}"), ("DELETE", f"/{NOBODY}"), ("POST", f"/{NOBODY}/reset-link")],
)
async def test_only_administrators_look_after_accounts(site, method, path):
    alice = await site.logged_in("alice")
    body = None if method == "GET" else {}
    problem(await alice.request(method, f"/api/users{path}", json=body), 403, "forbidden")


async def test_an_account_that_does_not_exist_is_not_found(site):
    root = await site.logged_in("root", admin=True)
    problem(await root.patch(f"/api/users/{NOBODY}", json={"admin": True}), 404, "not_found")
    problem(await root.post(f"/api/users/{NOBODY}/reset-link"), 404, "not_found")


async def test_a_weak_password_is_refused_with_its_field(site):
    root = await site.logged_in("root", admin=True)
    asked = {"name": "alice", "tenants": ["acme"], "password": "alice1234567"}
    document = problem(await root.post("/api/users", json=asked), 422, "invalid")
    assert document["errors"][0]["path"] == "password"


async def test_users_come_in_pages(any_site, root):
    for number in range(4):
        await any_site.account(f"user-{number}", password=None)
    seen, after = [], ""
    while after is not None:
        page = (await root.get(f"/api/users?limit=2{after and f'&after={after}'}")).json()
        seen += [item["name"] for item in page["items"]]
        after = page["next"]
    assert seen == ["root", *(f"user-{number}" for number in range(4))]
