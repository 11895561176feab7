"""One-time links: for logging in, and for choosing a password."""

import asyncio
from datetime import timedelta

import pytest

from tests.http.site import cookie_of, opened_site, problem
from towpath.identity import accounts, links, logging_in
from towpath.identity.sessions import new_session
from towpath.testing import FakeClock

NEW = "eleven loud lorries wait"


async def test_a_link_logs_in_once(any_site):
    account = await any_site.account("alice")
    secret, _ = await links.make(any_site.store, account.id, "login")
    first, second = any_site.browser(), any_site.browser()
    assert (await first.post("/api/session/link", json={"token": secret})).json()["account"]["name"] == "alice"
    problem(await second.post("/api/session/link", json={"token": secret}), 401, "login_refused")
    assert cookie_of(second) is None


async def test_of_many_who_use_a_link_at_once_one_gets_in(any_site):
    account = await any_site.account("alice")
    secret, _ = await links.make(any_site.store, account.id, "login")
    answers = await asyncio.gather(
        *(any_site.browser().post("/api/session/link", json={"token": secret}) for _ in range(8))
    )  # fmt: skip
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7
    assert len(await any_site.rows("SELECT id FROM towpath.session")) == 1


async def test_a_log_in_sent_again_after_an_unknown_commit_is_the_same_log_in(any_site):
    account = await any_site.account("alice")
    secret, _ = await links.make(any_site.store, account.id, "login")
    new = new_session("203.0.113.7")
    first = await logging_in.by_link(any_site.app, secret, new)
    assert await logging_in.by_link(any_site.app, secret, new) == first
    assert len(await any_site.rows("SELECT id FROM towpath.session")) == 1


async def test_of_many_who_choose_a_password_by_one_link_one_succeeds(any_site):
    account = await any_site.account("alice", password=None)
    secret, _ = await links.make(any_site.store, account.id, "reset")
    asked = {"token": secret, "password": NEW}
    answers = await asyncio.gather(*(any_site.browser().post("/api/session/reset", json=asked) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401]


@pytest.mark.parametrize(("purpose", "lasts"), [("login", timedelta(minutes=15)), ("reset", timedelta(hours=24))])
async def test_a_link_does_not_last(sqlite_url, tmp_path, purpose, lasts):
    clock = FakeClock()
    async with opened_site(sqlite_url, tmp_path, clock=clock) as site:
        account = await site.account("alice")
        secret, until = await links.make(site.store, account.id, purpose)
        assert until == clock.now + lasts
        clock.advance(lasts)
        path, body = ("link", {}) if purpose == "login" else ("reset", {"password": NEW})
        answer = await site.browser().post(f"/api/session/{path}", json={"token": secret, **body})
        problem(answer, 401, "login_refused")


async def test_a_link_is_for_its_purpose_only(site):
    account = await site.account("alice")
    login, _ = await links.make(site.store, account.id, "login")
    reset, _ = await links.make(site.store, account.id, "reset")
    browser = site.browser()
    problem(await browser.post("/api/session/link", json={"token": reset}), 401, "login_refused")
    problem(await browser.post("/api/session/reset", json={"token": login, "password": NEW}), 401, "login_refused")


async def test_a_reset_link_changes_the_password_and_ends_all_sessions(any_site):
    account = await any_site.account("alice")
    before, browser, later = any_site.browser(), any_site.browser(), any_site.browser()
    await any_site.enter(before, account.id)
    secret, _ = await links.make(any_site.store, account.id, "reset")
    answer = await browser.post("/api/session/reset", json={"token": secret, "password": NEW})
    assert answer.json()["account"]["name"] == "alice"
    assert (await browser.get("/api/session")).status_code == 200
    problem(await before.get("/api/session"), 401, "unauthenticated")
    assert (await later.post("/api/session", json={"name": "alice", "password": NEW})).status_code == 200


async def test_a_password_that_is_refused_does_not_use_the_link_up(site):
    account = await site.account("alice")
    secret, _ = await links.make(site.store, account.id, "reset")
    browser = site.browser()
    problem(await browser.post("/api/session/reset", json={"token": secret, "password": "password1234"}), 422, "invalid")
    assert (await browser.post("/api/session/reset", json={"token": secret, "password": NEW})).status_code == 200


async def test_a_new_reset_link_ends_the_older_one(site):
    account = await site.account("alice")
    older, _ = await links.make(site.store, account.id, "reset")
    newer, _ = await links.make(site.store, account.id, "reset")
    browser = site.browser()
    problem(await browser.post("/api/session/reset", json={"token": older, "password": NEW}), 401, "login_refused")
    assert (await browser.post("/api/session/reset", json={"token": newer, "password": NEW})).status_code == 200


async def test_the_links_of_a_disabled_account_do_not_hold(site):
    account = await site.account("alice")
    secret, _ = await links.make(site.store, account.id, "login")
    await accounts.change(site.store, account.id, disabled=True)
    await accounts.change(site.store, account.id, disabled=False)
    problem(await site.browser().post("/api/session/link", json={"token": secret}), 401, "login_refused")


async def test_only_the_hash_of_a_link_is_stored(site):
    account = await site.account("alice")
    secret, _ = await links.make(site.store, account.id, "login")
    [row] = await site.rows("SELECT * FROM towpath.link")
    assert secret not in str(row)


def test_a_link_is_the_servers_address_and_the_secret():
    assert (
        links.url_of("https://jobs.example/towpath/", "login", "s-e_c") == "https://jobs.example/towpath/login?token=s-e_c"
    )


@pytest.mark.parametrize(("said", "holds"), [({}, 401), ({"revoke_tokens": True}, 401), ({"revoke_tokens": False}, 200)])
async def test_a_reset_ends_tokens_unless_they_are_to_be_kept(any_site, said, holds):
    account, other = await any_site.account("alice"), await any_site.account("bert")
    token, others = await any_site.token(account), await any_site.token(other)
    secret, _ = await links.make(any_site.store, account.id, "reset")
    answer = await any_site.browser().post("/api/session/reset", json={"token": secret, "password": NEW} | said)
    assert answer.status_code == 200
    assert (await any_site.program(token).get("/api/session")).status_code == holds
    assert (await any_site.program(others).get("/api/session")).status_code == 200


@pytest.mark.parametrize(("said", "holds"), [({}, 200), ({"revoke_tokens": True}, 401), ({"revoke_tokens": False}, 200)])
async def test_a_changed_password_keeps_tokens_unless_they_are_to_end(site, said, holds):
    browser = await site.logged_in("alice")
    account_id = (await browser.get("/api/session")).json()["account"]["id"]
    token = await site.token(await accounts.find(site.store, account_id))
    assert (await browser.post("/api/session/password", json={"new": NEW} | said)).status_code == 204
    assert (await site.program(token).get("/api/session")).status_code == holds
    assert (await browser.get("/api/session")).status_code == 200
