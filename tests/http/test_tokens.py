"""API tokens: what they may do, for how long, and for whom."""

from datetime import timedelta

import pytest

from tests.http.site import opened_site, problem
from towpath import SchemaInvalid
from towpath.identity import accounts, tokens
from towpath.testing import FakeClock

NOBODY = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"


async def test_a_token_acts_for_its_account_and_tenant(any_site):
    account = await any_site.account("alice", tenants=["acme", "globex"])
    program = any_site.program(await any_site.token(account, tenant="globex", scopes=["read"]))
    session = (await program.get("/api/session")).json()
    assert (session["account"]["name"], session["tenant"], session["scopes"]) == ("alice", "globex", ["read"])


@pytest.mark.parametrize(
    ("scopes", "reads", "writes", "administers"),
    [
        (["read"], 200, 403, 403),
        (["write"], 403, 404, 403),
        (["read", "write"], 200, 404, 403),
        (["priority"], 403, 403, 403),
        (["admin"], 403, 403, 200),
        (["read", "write", "admin"], 200, 404, 200),
    ],
)
async def test_a_token_can_do_what_its_scopes_say(site, scopes, reads, writes, administers):
    account = await site.account("root", admin=True)
    program = site.program(await site.token(account, scopes=scopes))
    assert (await program.get("/api/tokens")).status_code == reads
    assert (await program.delete(f"/api/tokens/{NOBODY}")).status_code == writes
    assert (await program.get("/api/users")).status_code == administers


@pytest.mark.parametrize(("scopes", "status"), [(["read", "write"], 403), (["read", "write", "admin"], 201)])
async def test_a_token_makes_no_tokens_unless_it_is_an_administrators(site, scopes, status):
    account = await site.account("root", admin=True)
    program = site.program(await site.token(account, scopes=scopes))
    assert (await program.post("/api/tokens", json={"name": "more", "scopes": ["read"]})).status_code == status


async def test_an_administrators_token_without_the_scope_sees_only_its_own(site):
    root, alice = await site.account("root", admin=True), await site.account("alice")
    await site.token(alice)
    program = site.program(await site.token(root, scopes=["read", "write"]))
    assert {item["account"] for item in (await program.get("/api/tokens")).json()["items"]} == {"root"}
    assert (await program.get("/api/session")).json()["account"]["admin"] is False


async def test_a_token_is_shown_once_and_stored_as_its_hash(any_site):
    browser = await any_site.logged_in("alice")
    answer = await browser.post("/api/tokens", json={"name": "nightly", "scopes": ["read"], "days": 30})
    assert answer.status_code == 201
    made = answer.json()
    secret = made.pop("token")
    assert secret.startswith("tow_")
    assert len(secret) == 4 + 48
    [listed] = (await browser.get("/api/tokens")).json()["items"]
    assert listed == made
    assert secret.startswith(listed["prefix"])
    [row] = await any_site.rows("SELECT * FROM towpath.token")
    assert secret not in str(row)
    assert (await any_site.program(secret).get("/api/session")).status_code == 200


async def test_a_token_expires(sqlite_url, tmp_path):
    clock = FakeClock()
    async with opened_site(sqlite_url, tmp_path, clock=clock) as site:
        program = site.program(await site.token(await site.account("alice"), days=2))
        clock.advance(timedelta(days=2, seconds=-1))
        assert (await program.get("/api/session")).status_code == 200
        clock.advance(1)
        problem(await program.get("/api/session"), 401, "unauthenticated")


async def test_its_last_use_is_written_at_most_once_a_minute(sqlite_url, tmp_path):
    clock = FakeClock()
    async with opened_site(sqlite_url, tmp_path, clock=clock) as site:
        program = site.program(await site.token(await site.account("alice")))
        start = clock.now.timestamp()
        for seconds, written in ((0, start), (59, start), (1, start + 60)):
            clock.advance(seconds)
            await program.get("/api/session")
            assert await site.rows("SELECT last_used_at FROM towpath.token") == [{"last_used_at": written}]


async def test_a_revoked_token_is_nobodys_at_once(any_site):
    account = await any_site.account("alice")
    browser, program = any_site.browser(), any_site.program(await any_site.token(account))
    await any_site.enter(browser, account.id)
    [token] = (await browser.get("/api/tokens")).json()["items"]
    assert (await program.get("/api/session")).status_code == 200
    assert (await browser.delete(f"/api/tokens/{token['id']}")).status_code == 204
    problem(await program.get("/api/session"), 401, "unauthenticated")


async def test_somebody_elses_token_is_neither_seen_nor_revoked(site):
    bob = await site.account("bob")
    secret = await site.token(bob)
    [token] = await tokens.page(site.store)
    alice = await site.logged_in("alice")
    assert (await alice.get("/api/tokens")).json()["items"] == []
    problem(await alice.delete(f"/api/tokens/{token.id}"), 404, "not_found")
    assert (await site.program(secret).get("/api/session")).status_code == 200


async def test_an_administrator_sees_and_revokes_everybodys(site):
    secret = await site.token(await site.account("alice"))
    root = await site.logged_in("root", admin=True)
    [token] = (await root.get("/api/tokens")).json()["items"]
    assert token["account"] == "alice"
    assert (await root.delete(f"/api/tokens/{token['id']}")).status_code == 204
    problem(await site.program(secret).get("/api/session"), 401, "unauthenticated")


async def test_nobody_makes_a_token_that_can_do_more_than_they(site):
    alice = await site.logged_in("alice")
    for scopes in (["admin"], ["read", "priority"]):
        document = problem(await alice.post("/api/tokens", json={"name": "x", "scopes": scopes}), 422, "invalid")
        assert document["errors"][0]["path"] == "scopes"


async def test_nobody_makes_a_token_for_a_tenant_they_do_not_belong_to(site):
    alice = await site.logged_in("alice")
    asked = {"name": "x", "scopes": ["read"], "tenant": "globex"}
    document = problem(await alice.post("/api/tokens", json=asked), 422, "invalid")
    assert document["errors"][0]["path"] == "tenant"


async def test_who_is_no_administrator_any_more_has_no_administrators_tokens(any_site):
    root = await any_site.account("root", admin=True)
    await any_site.account("other", admin=True)
    program = any_site.program(await any_site.token(root))
    assert (await program.get("/api/users")).status_code == 200
    await accounts.change(any_site.store, root.id, admin=False)
    problem(await program.get("/api/users"), 403, "forbidden")
    assert (await program.get("/api/session")).json()["scopes"] == ["read", "write"]


async def test_a_token_ends_with_the_membership_and_with_the_account(any_site):
    account = await any_site.account("alice", tenants=["acme", "globex"])
    program = any_site.program(await any_site.token(account, tenant="globex"))
    await accounts.change(any_site.store, account.id, tenants=["acme"])
    problem(await program.get("/api/session"), 401, "unauthenticated")
    await accounts.change(any_site.store, account.id, tenants=["acme", "globex"])
    assert (await program.get("/api/session")).status_code == 200
    await accounts.change(any_site.store, account.id, disabled=True)
    problem(await program.get("/api/session"), 401, "unauthenticated")


@pytest.mark.parametrize("header", ["Bearer tow_wrong", "Bearer", "Basic dG93OnRvdw==", "tow_wrong", "Bearer \xff"])
async def test_a_header_that_does_not_hold_is_nobody_even_beside_a_good_cookie(site, header):
    browser = await site.logged_in("alice")
    answer = await browser.get("/api/session", headers={b"authorization": header.encode("latin-1")})
    problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_tokens_come_in_pages(any_site):
    account = await any_site.account("alice")
    for _ in range(5):
        await any_site.token(account)
    program = any_site.program(await any_site.token(account))
    seen, after = [], ""
    while after is not None:
        page = (await program.get(f"/api/tokens?limit=2{after and f'&after={after}'}")).json()
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
    assert seen == sorted(set(seen))
    assert len(seen) == 6


@pytest.mark.parametrize("days", [0, -1, 4000, float("nan"), float("inf")])
async def test_a_token_lasts_some_time_and_not_for_ever(site, days):
    account = await site.account("alice", password=None)
    with pytest.raises(SchemaInvalid, match="days"):
        await tokens.create(site.store, account, name="x", days=days)
