"""Logging in through an OpenID provider, against a real one that runs beside the test."""

from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from tests.http.openid import CLIENT, SECRET, new_key, running_provider, shared_secret, unsigned
from tests.http.site import cookie_of, opened_site, problem
from towpath import ConfigurationError, Settings
from towpath.identity import accounts
from towpath.identity.oidc.provider import provider_from
from towpath.identity.oidc.rules import is_allowed, name_for


@asynccontextmanager
async def visited(url, tmp_path, **settings):
    async with running_provider() as provider:
        options = {
            "oidc_issuer": provider.issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET,
            "oidc_allowed": "example.com", "oidc_tenant": "acme", **settings,
        }  # fmt: skip
        async with opened_site(url, tmp_path, **options) as site:
            yield site, provider


@pytest.fixture
async def visiting(sqlite_url, tmp_path):
    async with visited(sqlite_url, tmp_path) as found:
        yield found


async def depart(browser):
    """To the provider and back: the address the provider sends the browser to."""
    answer = await browser.get("/api/auth/oidc/login")
    assert answer.status_code == 303, answer.text
    async with httpx.AsyncClient(verify=False) as outside:  # plain http: no certificates to load
        back = (await outside.get(answer.headers["location"])).headers["location"]
    parts = urlsplit(back)
    assert back.startswith("http://towpath.test/api/auth/oidc/callback?")
    return f"{parts.path}?{parts.query}"


async def arrive(site):
    browser = site.browser()
    return browser, await browser.get(await depart(browser))


async def refused(site):
    browser, answer = await arrive(site)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?problem=login_refused")
    assert cookie_of(browser) is None
    problem(await browser.get("/api/session"), 401, "unauthenticated")


async def test_whom_the_rule_lets_in_gets_an_account_and_a_session(database_url, tmp_path):
    async with visited(database_url, tmp_path) as (site, _):
        browser, answer = await arrive(site)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        session = (await browser.get("/api/session")).json()
        assert (session["account"]["name"], session["account"]["admin"]) == ("alice@example.com", False)
        assert session["tenants"] == ["acme"]


async def test_who_comes_again_is_the_same_even_under_another_address(visiting):
    site, provider = visiting
    first, _ = await arrive(site)
    provider.person["email"] = "alice.liddell@example.com"
    second, _ = await arrive(site)
    ids = {(await browser.get("/api/session")).json()["account"]["id"] for browser in (first, second)}
    assert len(ids) == 1


async def test_a_disabled_account_does_not_get_in(visiting):
    site, _ = visiting
    browser, _ = await arrive(site)
    account_id = (await browser.get("/api/session")).json()["account"]["id"]
    await accounts.change(site.store, account_id, disabled=True)
    await refused(site)


@pytest.mark.parametrize(
    "person",
    [
        {"sub": "2", "email": "mallory@evil.test", "email_verified": True},
        {"sub": "2", "email": "alice@example.com", "email_verified": False},
        {"sub": "2", "email": "alice@example.com"},
        {"sub": "2", "email": "alice@example.com.evil.test", "email_verified": True},
        {"sub": "2"},
    ],
)
async def test_whom_the_rule_does_not_let_in_gets_nothing(visiting, person):
    site, provider = visiting
    provider.person = person
    await refused(site)
    assert await accounts.page(site.store) == []


async def test_an_account_is_not_taken_over_by_its_name(visiting):
    site, _ = visiting
    await site.account("Alice@Example.com", admin=True)
    await refused(site)


async def test_the_way_back_works_once(visiting):
    site, _ = visiting
    browser = site.browser()
    back = await depart(browser)
    cookie = browser.cookies.get("towpath_oidc")
    assert (await browser.get(back)).headers["location"] == "/"
    browser.cookies.set("towpath_oidc", cookie)
    assert (await browser.get(back)).headers["location"] == "/login?problem=login_refused"


async def test_the_way_back_is_for_the_browser_that_left(visiting):
    """Nobody is logged in as somebody else by following a link."""
    site, provider = visiting
    back = await depart(site.browser())
    victim = site.browser()
    assert (await victim.get(back)).headers["location"] == "/login?problem=login_refused"
    await depart(victim)
    assert (await victim.get(back)).headers["location"] == "/login?problem=login_refused"
    assert cookie_of(victim) is None
    assert provider.redeemed == []


@pytest.mark.parametrize(
    "twist",
    [
        lambda claims: claims | {"nonce": "another"},
        lambda claims: {name: value for name, value in claims.items() if name != "nonce"},
        lambda claims: claims | {"aud": "somebody-else"},
        lambda claims: claims | {"aud": ["towpath", "somebody-else"], "azp": "somebody-else"},
        lambda claims: claims | {"iss": "https://evil.test"},
        lambda claims: claims | {"exp": claims["exp"] - 3600},
        lambda claims: claims | {"iat": claims["iat"] + 3600},
        lambda claims: {name: value for name, value in claims.items() if name != "sub"},
    ],
    ids=["nonce", "no nonce", "audience", "party", "issuer", "expired", "future", "nobody"],
)
async def test_a_token_that_is_not_for_this_log_in_is_refused(visiting, twist):
    site, provider = visiting
    provider.twist = twist
    await refused(site)


async def test_a_token_that_somebody_else_signed_is_refused(visiting):
    site, provider = visiting
    provider.signing = new_key("first")
    await refused(site)


async def test_a_token_signed_with_what_is_no_private_key_is_refused(visiting):
    site, provider = visiting
    provider.signing, provider.header = shared_secret(), {"alg": "HS256"}
    await refused(site)


async def test_an_unsigned_token_is_refused(visiting, monkeypatch):
    site, provider = visiting
    claims = {}
    provider.twist = lambda found: claims.update(found) or found
    sign = provider.sign
    monkeypatch.setattr(provider, "sign", lambda nonce: sign(nonce) and unsigned(claims))
    await refused(site)


async def test_new_keys_of_the_provider_are_found(visiting):
    site, provider = visiting
    await arrive(site)
    provider.keys.append(new_key("second"))
    _, answer = await arrive(site)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    "query", ["error=access_denied&state=x", "", "code=made-up&state=made-up", "code=x&iss=https://evil.test"]
)
async def test_coming_back_without_a_code_of_ours_leads_to_the_log_in_page(visiting, query):
    site, _ = visiting
    answer = await site.browser().get(f"/api/auth/oidc/callback?{query}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?problem=login_refused")


async def test_a_provider_that_is_away_is_told(sqlite_url, tmp_path):
    async with visited(sqlite_url, tmp_path) as (site, provider):
        provider.issuer = "http://127.0.0.1:1"
        problem(await site.browser().get("/api/auth/oidc/login"), 503, "unavailable")


async def test_without_a_provider_there_is_nothing_there(site):
    problem(await site.browser().get("/api/auth/oidc/login"), 404, "not_found")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"oidc_issuer": "http://id.example", "oidc_client_id": "x", "oidc_allowed": "y"}, "https://"),
        ({"oidc_issuer": "https://id.example", "oidc_allowed": "y"}, "TOWPATH_OIDC_CLIENT_ID"),
        ({"oidc_issuer": "https://id.example", "oidc_client_id": "x"}, "TOWPATH_OIDC_ALLOWED"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(settings, named):
    with pytest.raises(ConfigurationError, match=named):
        provider_from(Settings(**settings))


@pytest.mark.parametrize(
    ("rule", "claims", "allowed"),
    [
        ("example.com", {"email": "a@EXAMPLE.com", "email_verified": True}, True),
        ("example.com", {"email": "a@sub.example.com", "email_verified": True}, False),
        ("groups=staff", {"groups": ["staff", "x"]}, True),
        ("groups=staff", {"groups": "staff"}, True),
        ("groups=staff", {"groups": ["staffers"]}, False),
        ("groups=staff, example.com", {"email": "a@example.com", "email_verified": True}, True),
        ("hd=example.com", {"hd": "example.com"}, True),
        ("", {"email": "a@example.com", "email_verified": True}, False),
        (",", {"email": "", "email_verified": True}, False),
    ],
)
def test_the_rule_is_a_domain_or_a_claim(rule, claims, allowed):
    assert is_allowed(claims, rule) is allowed


def test_an_account_is_named_by_a_verified_address_or_what_the_person_prefers():
    assert name_for({"sub": "1", "email": "a@b.c", "email_verified": True, "preferred_username": "a"}) == "a@b.c"
    assert name_for({"sub": "1", "email": "a@b.c", "preferred_username": "a"}) == "a"
    assert name_for({"sub": "1"}) == "1"
