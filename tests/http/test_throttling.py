"""Guessing passwords gets slower and slower, whoever's they are and wherever it comes from."""

import asyncio

import pytest

from tests.http.site import PASSWORD, opened_site, problem
from towpath.identity import links
from towpath.identity.devices import LASTS
from towpath.identity.throttle import ADDRESS, EVERYWHERE, FORGET_AFTER, NAME, Limit, subjects
from towpath.testing import FakeClock


async def attempt(site, name="alice", password="wrong quiet barges", address="203.0.113.7"):
    async with site.program(address=address) as program:
        return await program.post("/api/session", json={"name": name, "password": password})


def test_the_wait_doubles_up_to_a_quarter_of_an_hour():
    assert [Limit(3).wait(failures) for failures in range(1, 8)] == [0, 0, 1, 2, 4, 8, 16]
    assert Limit(3).wait(10_000) == 900


def test_addresses_of_one_ipv6_network_are_one():
    assert subjects("a", "2001:db8::1") == subjects("a", "2001:db8::ffff:2")
    assert subjects("a", "2001:db8::1") != subjects("a", "2001:db8:0:1::1")
    assert subjects("a", "::ffff:203.0.113.7") == subjects("a", "203.0.113.7")


async def test_after_some_wrong_passwords_even_the_right_one_has_to_wait(any_site):
    await any_site.account("alice")
    for _ in range(NAME.free):
        problem(await attempt(any_site), 401, "login_refused")
    answer = await attempt(any_site, password=PASSWORD)
    problem(answer, 429, "throttled")
    assert int(answer.headers["retry-after"]) >= 1


async def test_a_name_nobody_has_is_throttled_like_one_that_somebody_has(site):
    for _ in range(NAME.free):
        problem(await attempt(site, "nobody"), 401, "login_refused")
    problem(await attempt(site, "nobody"), 429, "throttled")


async def test_many_attempts_at_once_get_no_further_than_one_after_the_other(any_site):
    await any_site.account("alice")
    answers = await asyncio.gather(*(attempt(any_site) for _ in range(15)))
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(401) == NAME.free
    assert set(statuses) == {401, 429}


async def test_an_address_that_tries_many_names_is_stopped_and_others_are_not(site):
    for number in range(ADDRESS.free):
        problem(await attempt(site, f"name-{number}"), 401, "login_refused")
    problem(await attempt(site, "one-more"), 429, "throttled")
    problem(await attempt(site, "one-more", address="198.51.100.1"), 401, "login_refused")


async def test_guesses_from_many_addresses_do_not_shut_the_true_user_out(any_site):
    await any_site.account("alice")
    for number in range(EVERYWHERE.free - 1):
        problem(await attempt(any_site, address=f"203.0.113.{number}"), 401, "login_refused")
    assert (await attempt(any_site, password=PASSWORD, address="198.51.100.1")).status_code == 200


async def test_guesses_from_very_many_addresses_are_slowed_down_for_all_of_them(site):
    await site.account("alice")
    for number in range(EVERYWHERE.free):
        await attempt(site, address=f"203.0.113.{number}")
    answer = await attempt(site, address="198.51.100.1", password=PASSWORD)
    problem(answer, 429, "throttled")
    assert EVERYWHERE.wait(10_000) == 30


async def test_a_browser_that_was_logged_in_before_is_not_slowed_down_by_strangers(any_site):
    await any_site.account("alice")
    credentials = {"name": "alice", "password": PASSWORD}
    async with any_site.browser(address="198.51.100.1") as browser:
        assert (await browser.post("/api/session", json=credentials)).status_code == 200
        await browser.delete("/api/session")
        for number in range(EVERYWHERE.free):
            await attempt(any_site, address=f"203.0.113.{number % 200}")
        problem(await attempt(any_site, address="198.51.100.2", password=PASSWORD), 429, "throttled")
        known = browser.cookies["towpath_device"]
        assert (await browser.post("/api/session", json=credentials)).status_code == 200
        assert browser.cookies["towpath_device"] != known


async def test_a_browser_that_is_known_is_throttled_by_its_own_guesses(site):
    await site.account("alice")
    await site.account("bert")
    async with site.browser() as browser:
        assert (await browser.post("/api/session", json={"name": "alice", "password": PASSWORD})).status_code == 200
        for _ in range(NAME.free):
            wrong = {"name": "alice", "password": "wrong quiet barges"}
            problem(await browser.post("/api/session", json=wrong), 401, "login_refused")
        problem(await browser.post("/api/session", json={"name": "alice", "password": PASSWORD}), 429, "throttled")
        # It is known to alice; what it guesses of others counts as anybody's.
        for _ in range(NAME.free):
            await browser.post("/api/session", json={"name": "bert", "password": "wrong quiet barges"})
        problem(await browser.post("/api/session", json={"name": "bert", "password": PASSWORD}), 429, "throttled")


async def test_a_browser_that_is_known_to_one_account_is_a_stranger_to_every_other(site):
    """Else whoever has an account could go on guessing another's, and count against nobody."""
    await site.account("mallory")
    await site.account("alice")
    async with site.browser() as browser:
        assert (await browser.post("/api/session", json={"name": "mallory", "password": PASSWORD})).status_code == 200
        for number in range(EVERYWHERE.free):
            await attempt(site, address=f"203.0.113.{number}")
        problem(await browser.post("/api/session", json={"name": "alice", "password": PASSWORD}), 429, "throttled")


async def test_a_browser_that_two_people_share_is_known_to_both(any_site):
    async with any_site.browser(address="198.51.100.1") as browser:
        for name in ("alice", "bert"):
            await any_site.account(name)
            assert (await browser.post("/api/session", json={"name": name, "password": PASSWORD})).status_code == 200
        for number in range(EVERYWHERE.free):
            await attempt(any_site, address=f"203.0.113.{number}")
        assert (await browser.post("/api/session", json={"name": "alice", "password": PASSWORD})).status_code == 200


async def test_that_its_owner_is_here_does_not_forgive_the_guesses_from_everywhere_else(site):
    await site.account("alice")
    for number in range(EVERYWHERE.free - 1):
        problem(await attempt(site, address=f"203.0.113.{number}"), 401, "login_refused")
    assert (await attempt(site, password=PASSWORD, address="198.51.100.1")).status_code == 200
    problem(await attempt(site, address="198.51.100.2"), 401, "login_refused")
    problem(await attempt(site, address="198.51.100.3"), 429, "throttled")


async def test_after_a_reset_only_the_browser_that_chose_the_password_is_known(any_site):
    account = await any_site.account("alice")
    async with any_site.browser() as before, any_site.browser() as resetting:
        await before.post("/api/session", json={"name": "alice", "password": PASSWORD})
        secret, _ = await links.make(any_site.store, account.id, "reset")
        chosen = {"token": secret, "password": "another quiet barge passes"}
        assert (await resetting.post("/api/session/reset", json=chosen)).status_code == 200
        for number in range(EVERYWHERE.free):
            await attempt(any_site, address=f"203.0.113.{number}")
        credentials = {"name": "alice", "password": chosen["password"]}
        problem(await before.post("/api/session", json=credentials), 429, "throttled")
        assert (await resetting.post("/api/session", json=credentials)).status_code == 200


async def test_a_browser_that_nobody_has_used_for_a_year_is_forgotten(timed):
    site, clock = timed
    await site.account("alice")
    credentials = {"name": "alice", "password": PASSWORD}
    async with site.browser() as browser:
        await browser.post("/api/session", json=credentials)
        clock.advance(LASTS.total_seconds() + 1)
        assert (await attempt(site, password=PASSWORD, address="198.51.100.1")).status_code == 200
        for number in range(EVERYWHERE.free):
            await attempt(site, address=f"203.0.113.{number}")
        problem(await browser.post("/api/session", json=credentials), 429, "throttled")


async def test_a_cookie_that_was_copied_is_worth_nothing_after_the_next_log_in(site):
    await site.account("alice")
    credentials = {"name": "alice", "password": PASSWORD}
    async with site.browser() as browser, site.browser(address="203.0.113.99") as thief:
        await browser.post("/api/session", json=credentials)
        thief.cookies.set("towpath_device", browser.cookies["towpath_device"])
        await browser.post("/api/session", json=credentials)
        for number in range(EVERYWHERE.free):
            await attempt(site, address=f"203.0.113.{number}")
        problem(await thief.post("/api/session", json=credentials), 429, "throttled")


@pytest.fixture
async def timed(sqlite_url, tmp_path):
    clock = FakeClock()
    async with opened_site(sqlite_url, tmp_path, clock=clock) as site:
        yield site, clock


async def test_after_the_wait_the_right_password_opens_and_the_count_starts_anew(timed):
    site, clock = timed
    await site.account("alice")
    for _ in range(NAME.free):
        await attempt(site)
    clock.advance(2)
    assert (await attempt(site, password=PASSWORD)).status_code == 200
    for _ in range(NAME.free):
        problem(await attempt(site), 401, "login_refused")


async def test_attempts_during_a_block_do_not_prolong_it(timed):
    site, clock = timed
    await site.account("alice")
    for _ in range(NAME.free + 20):
        await attempt(site)
    clock.advance(2)
    assert (await attempt(site, password=PASSWORD)).status_code == 200


async def test_each_wrong_password_after_a_block_makes_the_next_one_longer(timed):
    site, clock = timed
    waits = []
    for _ in range(NAME.free):
        await attempt(site)
    for _ in range(3):
        waits.append(int((await attempt(site)).headers["retry-after"]))
        clock.advance(waits[-1] + 1)
        problem(await attempt(site), 401, "login_refused")
    assert waits == [1, 2, 4]


async def test_an_account_of_ones_own_does_not_reset_what_counts_against_the_address(timed):
    site, _ = timed
    await site.account("mallory")
    for number in range(ADDRESS.free - 1):
        await attempt(site, f"victim-{number}")
    assert (await attempt(site, "mallory", PASSWORD)).status_code == 200
    problem(await attempt(site, "victim-x"), 401, "login_refused")
    problem(await attempt(site, "victim-y"), 429, "throttled")


async def test_a_day_later_all_is_forgotten(timed):
    site, clock = timed
    for _ in range(NAME.free - 1):
        await attempt(site)
    clock.advance(FORGET_AFTER.total_seconds() + 1)
    for _ in range(NAME.free):
        problem(await attempt(site), 401, "login_refused")


async def test_what_was_counted_outlives_the_server(sqlite_url, tmp_path):
    async with opened_site(sqlite_url, tmp_path) as before:
        for _ in range(NAME.free):
            await attempt(before)
    async with opened_site(sqlite_url, tmp_path) as after:
        problem(await attempt(after), 429, "throttled")
