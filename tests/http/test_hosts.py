"""The server answers to its own names, so that no other name can be pointed at it."""

import pytest

from tests.http.site import problem
from towpath import ConfigurationError
from towpath.http.hosts import Hosts, host_in
from towpath.identity.local import check_host, ensure_local_account, make_login_link
from towpath.outbound.addresses import is_loopback


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("towpath.test", "towpath.test"),
        ("Towpath.Test:8642", "towpath.test"),
        ("towpath.test.", "towpath.test"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::1]:8642", "::1"),
        (None, None),
        ("", None),
        (":80", None),
        ("a:b", None),
        ("[::1", None),
        ("[::1]x", None),
        ("evil.test/@towpath.test", None),
        ("a b", None),
        ("localhost,evil.test", None),
    ],
)
def test_the_name_is_read_from_the_header(header, host):
    assert host_in(header) == host


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])
def test_loopback_has_many_names(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["localhost.evil.test", "notlocalhost", "0.0.0.0", "::", "10.0.0.1", "", "127.0.0.1.evil.test"]
)
def test_other_names_are_none_of_them(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("names", "host", "answers"),
    [
        ((), "anything.test", True),
        (("jobs.example",), "jobs.example:443", True),
        (("jobs.example",), "evil.test", False),
        (("jobs.example",), "localhost", False),
        (("*.example",), "jobs.example", True),
        (("*.example",), "example", False),
        (("*.example",), "evilexample", False),
        (("*",), "whatever.test", True),
    ],
)
def test_names_in_the_settings_are_the_only_ones(names, host, answers):
    assert (Hosts(names).refusal(host) is None) is answers


async def test_local_mode_does_not_answer_to_a_name_that_was_pointed_at_it(open_site):
    site = await open_site(local=True, base="http://localhost:8642")
    program = site.program()
    assert (await program.get("/api/auth/methods")).status_code == 200
    document = problem(await program.get("/api/auth/methods", headers={"host": "rebound.evil.test:8642"}), 400, "invalid")
    assert "TOWPATH_ALLOWED_HOSTS" in document["remedy"]
    for path in ("/", "/api/jobs"):
        problem(await program.get(path, headers={"host": "rebound.evil.test"}), 400, "invalid")


async def test_load_balancers_may_ask_for_health_by_any_name(open_site):
    site = await open_site(allowed_hosts="jobs.example")
    program = site.program()
    assert (await program.get("/healthz", headers={"host": "10.1.2.3:8642"})).status_code == 200
    problem(await program.get("/api/session", headers={"host": "10.1.2.3:8642"}), 400, "invalid")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_a_server_on_loopback_runs_without_passwords(host):
    assert check_host(host, has_password_account=False) is True
    assert check_host(host, has_password_account=True) is True


@pytest.mark.parametrize(
    ("host", "names"),
    [("0.0.0.0", ""), ("::", ""), ("192.168.1.5", ""), ("jobs.example", ""), ("127.0.0.1", "jobs.example")],
)
def test_a_server_that_others_can_reach_needs_an_account_with_a_password(host, names):
    with pytest.raises(ConfigurationError, match="towpath users create"):
        check_host(host, has_password_account=False, allowed_hosts=names)
    assert check_host(host, has_password_account=True, allowed_hosts=names) is False


async def test_even_local_mode_needs_a_session_and_the_link_gives_it(open_site):
    site = await open_site(local=True, base="http://localhost")
    await ensure_local_account(site.app)
    browser = site.browser()
    problem(await browser.get("/api/jobs"), 401, "unauthenticated")
    link = await make_login_link(site.app, "http://localhost")
    address, _, secret = link.partition("?token=")
    assert address == "http://localhost/login"
    session = (await browser.post("/api/session/link", json={"token": secret})).json()
    assert (session["account"]["name"], session["tenant"], session["local"]) == ("local", "default", True)
    assert (await browser.get("/api/session")).json()["scopes"] == ["read", "write", "priority", "admin"]


async def test_the_local_account_is_made_once(site):
    assert await ensure_local_account(site.app) == await ensure_local_account(site.app)


async def test_the_local_account_gets_in_nowhere_else(site):
    """A database that was used in local mode, behind a server that others can reach."""
    local = await ensure_local_account(site.app)
    link = await make_login_link(site.app, site.base)
    browser = site.browser()
    answer = await browser.post("/api/session/link", json={"token": link.partition("token=")[2]})
    problem(answer, 401, "login_refused")
    problem(await browser.get("/api/session"), 401, "unauthenticated")
    program = site.program(await site.token(local))
    problem(await program.get("/api/session"), 401, "unauthenticated")
