"""How long a session lasts, what it can switch to, and how it is ended from elsewhere."""

from datetime import timedelta

import pytest

from tests.http.site import PASSWORD, cookie_of, opened_site, problem
from towpath import StoreUnavailable
from towpath.identity import accounts
from towpath.testing import FakeClock


@pytest.fixture
async def timed(sqlite_url, tmp_path):
    clock = FakeClock()
    async with opened_site(sqlite_url, tmp_path, clock=clock, session_idle_hours=2.0, session_days=1.0) as site:
        yield site, clock


async def test_a_session_ends_when_it_is_not_used(timed):
    site, clock = timed
    browser = await site.logged_in("alice")
    clock.advance(timedelta(hours=1, minutes=59))
    assert (await browser.get("/api/session")).status_code == 200
    clock.advance(timedelta(hours=2, minutes=1))
    problem(await browser.get("/api/session"), 401, "unauthenticated")


async def test_a_session_ends_after_its_longest_life_however_much_it_is_used(timed):
    site, clock = timed
    browser = await site.logged_in("alice")
    for _ in range(23):
        clock.advance(timedelta(hours=1))
        assert (await browser.get("/api/session")).status_code == 200
    clock.advance(timedelta(hours=1, seconds=1))
    problem(await browser.get("/api/session"), 401, "unauthenticated")


async def test_use_is_written_down_at_most_once_a_minute(timed):
    site, clock = timed
    browser = await site.logged_in("alice")
    [before] = await site.rows("SELECT seen_at FROM towpath.session")
    clock.advance(30)
    await browser.get("/api/session")
    assert await site.rows("SELECT seen_at FROM towpath.session") == [before]
    clock.advance(31)
    await browser.get("/api/session")
    assert await site.rows("SELECT seen_at FROM towpath.session") == [{"seen_at": clock.now.timestamp()}]


async def test_a_session_works_while_its_use_cannot_be_written_down(timed, monkeypatch):
    site, clock = timed
    browser = await site.logged_in("alice")
    clock.advance(61)

    async def full(_unit):
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(site.store, "run", full)
    assert (await browser.get("/api/session")).status_code == 200


async def test_sessions_that_have_ended_are_removed_when_somebody_logs_in(timed):
    site, clock = timed
    await site.logged_in("alice")
    clock.advance(timedelta(hours=3))
    await site.logged_in("bob")
    assert len(await site.rows("SELECT id FROM towpath.session")) == 1


async def test_a_session_switches_among_the_accounts_tenants(any_site):
    browser = await any_site.logged_in("alice", tenants=["acme", "globex"])
    answer = await browser.post("/api/session/tenant", json={"tenant": "globex"})
    assert answer.json()["tenant"] == "globex"
    assert (await browser.get("/api/session")).json()["tenant"] == "globex"


async def test_a_session_cannot_switch_to_a_tenant_the_account_does_not_belong_to(site):
    browser = await site.logged_in("alice")
    problem(await browser.post("/api/session/tenant", json={"tenant": "globex"}), 403, "forbidden")


async def test_who_is_taken_out_of_a_tenant_acts_for_it_no_longer(any_site):
    browser = await any_site.logged_in("alice", tenants=["acme", "globex"])
    await browser.post("/api/session/tenant", json={"tenant": "globex"})
    account_id = (await browser.get("/api/session")).json()["account"]["id"]
    await accounts.change(any_site.store, account_id, tenants=["acme", "initech"])
    session = (await browser.get("/api/session")).json()
    assert (session["tenant"], session["tenants"]) == ("acme", ["acme", "initech"])


async def test_several_people_share_a_tenant(site):
    for name in ("alice", "bob"):
        browser = await site.logged_in(name, tenants=["acme"])
        assert (await browser.get("/api/session")).json()["tenant"] == "acme"


async def test_one_sees_ones_browsers_and_ends_one_of_them(any_site):
    account = await any_site.account("alice")
    one, two = any_site.browser(**{"user-agent": "Barge/1.0"}), any_site.browser()
    await any_site.enter(one, account.id)
    await any_site.enter(two, account.id)
    listed = (await two.get("/api/sessions")).json()
    assert [item["current"] for item in listed] == [True, False]
    assert listed[1]["agent"] == "Barge/1.0"
    assert listed[1]["address"] == "203.0.113.7"
    assert (await two.delete(f"/api/sessions/{listed[1]['id']}")).status_code == 204
    problem(await one.get("/api/session"), 401, "unauthenticated")


async def test_somebody_elses_session_is_not_found(site):
    alice, bob = await site.logged_in("alice"), await site.logged_in("bob")
    [session] = (await bob.get("/api/sessions")).json()
    problem(await alice.delete(f"/api/sessions/{session['id']}"), 404, "not_found")
    assert (await bob.get("/api/session")).status_code == 200


async def test_changing_the_password_needs_the_present_one(site):
    account = await site.account("alice")
    browser = site.browser()
    await site.enter(browser, account.id)
    for current in ({}, {"current": "wrong quiet barges"}):
        asked = {"new": "eleven loud lorries wait", **current}
        document = problem(await browser.post("/api/session/password", json=asked), 422, "invalid")
        assert document["errors"][0]["path"] == "current"


async def test_changing_the_password_ends_all_other_sessions(any_site):
    account = await any_site.account("alice")
    browser, other, later = any_site.browser(), any_site.browser(), any_site.browser()
    await any_site.enter(browser, account.id)
    await any_site.enter(other, account.id)
    asked = {"current": PASSWORD, "new": "eleven loud lorries wait"}
    assert (await browser.post("/api/session/password", json=asked)).status_code == 204
    assert (await browser.get("/api/session")).status_code == 200
    problem(await other.get("/api/session"), 401, "unauthenticated")
    answer = await later.post("/api/session", json={"name": "alice", "password": "eleven loud lorries wait"})
    assert answer.status_code == 200


async def test_a_new_password_must_be_good_enough(site):
    browser = await site.logged_in("alice")
    document = problem(await browser.post("/api/session/password", json={"new": "password1234"}), 422, "invalid")
    assert document["errors"][0]["path"] == "password"


async def test_a_token_is_not_enough_for_what_belongs_to_a_session(site):
    account = await site.account("alice")
    program = site.program(await site.token(account))
    for path, body in (("password", {"new": "eleven loud lorries wait"}), ("tenant", {"tenant": "acme"})):
        problem(await program.post(f"/api/session/{path}", json=body), 403, "forbidden")


async def test_only_the_hash_of_a_session_is_stored(any_site):
    browser = await any_site.logged_in("alice")
    [row] = await any_site.rows("SELECT * FROM towpath.session")
    assert cookie_of(browser) not in str(row)
    assert len(cookie_of(browser)) >= 40
