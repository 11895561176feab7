"""What another site makes a browser send does nothing."""

import pytest

from tests.http.site import cookie_of, problem
from towpath.http import csrf
from towpath.http.cookies import COOKIE

COOKIES = {"cookie": f"{COOKIE}=x", "host": "towpath.test"}


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"sec-fetch-site": "same-origin"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-site"}, True),
        ({"sec-fetch-site": "cross-site"}, True),
        ({"sec-fetch-site": "cross-site", "origin": "http://towpath.test"}, True),
        ({"origin": "http://towpath.test"}, False),
        ({"origin": "https://towpath.test"}, False),  # a proxy ended TLS before us
        ({"origin": "http://TOWPATH.test:80"}, False),
        ({"origin": "http://towpath.test:8080"}, True),
        ({"origin": "http://evil.test"}, True),
        ({"origin": "http://towpath.test.evil.test"}, True),
        ({"origin": "http://towpath.test@evil.test"}, True),
        ({"origin": "null"}, True),
        ({"origin": ""}, True),
        ({"origin": "http://[towpath"}, True),
        ({}, True),
    ],
)
def test_with_a_cookie_only_our_own_pages_may_change_something(headers, refused):
    assert (csrf.refusal("POST", COOKIES | headers) is not None) is refused


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_looking_is_free(method):
    assert csrf.refusal(method, COOKIES | {"origin": "http://evil.test"}) is None


def test_a_token_is_sent_by_programs_not_by_browsers():
    assert csrf.refusal("POST", {"authorization": "Bearer tow_x", "host": "towpath.test"}) is None


def test_a_program_without_a_cookie_need_not_say_where_it_is():
    assert csrf.refusal("POST", {"host": "towpath.test"}) is None
    assert csrf.refusal("POST", {"host": "towpath.test", "origin": "http://evil.test"}) is not None


def test_the_address_in_the_settings_is_our_own_too():
    headers = COOKIES | {"host": "10.0.0.5:8642", "origin": "https://jobs.example"}
    assert csrf.refusal("POST", headers) is not None
    assert csrf.refusal("POST", headers, "https://jobs.example/towpath") is None


async def test_a_forged_request_changes_nothing(site):
    browser = await site.logged_in("alice")
    forged = {"origin": "https://evil.test"}
    asked = {"name": "x", "scopes": ["read"]}
    problem(await browser.post("/api/tokens", json=asked, headers=forged), 403, "csrf")
    problem(await browser.delete("/api/session", headers=forged), 403, "csrf")
    assert (await browser.get("/api/tokens")).json()["items"] == []


async def test_nobody_is_logged_in_as_somebody_else_by_another_sites_form(site):
    await site.account("mallory")
    browser = site.program(origin="https://evil.test")
    answer = await browser.post("/api/session", json={"name": "mallory", "password": "four quiet barges pass"})
    problem(answer, 403, "csrf")
    assert cookie_of(browser) is None


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain", ""])
async def test_what_a_form_can_send_is_not_read(site, kind):
    browser = await site.logged_in("alice")
    body = b'{"name": "x", "scopes": ["read"]}'
    answer = await browser.post("/api/tokens", content=body, headers={"content-type": kind})
    problem(answer, 415, "invalid")


async def test_json_is_read_with_a_charset_too(site):
    browser = await site.logged_in("alice")
    body = b'{"name": "x", "scopes": ["read"]}'
    answer = await browser.post("/api/tokens", content=body, headers={"content-type": "Application/JSON; charset=utf-8"})
    assert answer.status_code == 201
