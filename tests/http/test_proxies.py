"""Behind a proxy: whose headers are believed, and where the server thinks it is."""

import pytest
from fastapi import FastAPI

from tests.http.site import PASSWORD, Site, problem
from towpath import ConfigurationError
from towpath.http.proxies import Proxies, check_base_path, parse_networks

OURS = Proxies(parse_networks("10.0.0.0/8, 2001:db8::/32"))


def scope(client="10.0.0.1", path="/api/session", root_path="", **headers):
    raw = [(b"host", b"inside:8642")] + [
        (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
    ]
    return {"type": "http", "client": (client, 1), "scheme": "http", "path": path, "root_path": root_path, "headers": raw}


def host_of(found):
    return dict(found["headers"])[b"host"].decode()


def test_a_trusted_proxy_tells_client_scheme_and_host():
    found = OURS.seen_through(
        scope(x_forwarded_for="203.0.113.7", x_forwarded_proto="https", x_forwarded_host="jobs.example")
    )  # fmt: skip
    assert (found["client"][0], found["scheme"], host_of(found)) == ("203.0.113.7", "https", "jobs.example")


def test_anybody_else_tells_nothing():
    sent = scope(
        "203.0.113.9", x_forwarded_for="1.2.3.4", x_forwarded_proto="https", x_forwarded_host="evil.test",
        x_forwarded_prefix="/evil",
    )  # fmt: skip
    assert OURS.seen_through(sent) == sent
    assert Proxies().seen_through(scope(x_forwarded_for="1.2.3.4"))["client"][0] == "10.0.0.1"


@pytest.mark.parametrize(
    ("chain", "client"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("1.2.3.4, 203.0.113.7", "203.0.113.7"),  # the first one is what the client made up
        ("203.0.113.7, 10.0.0.9, 10.0.0.8", "203.0.113.7"),
        ("2606:4700::1", "2606:4700::1"),
        ("[2606:4700::1]", "2606:4700::1"),
        ("nonsense", "10.0.0.1"),
        ("nonsense, 10.0.0.9", "10.0.0.9"),
        ("10.0.0.9", "10.0.0.9"),
    ],
)
def test_the_client_is_the_last_address_that_is_not_a_proxy(chain, client):
    assert OURS.seen_through(scope(x_forwarded_for=chain))["client"][0] == client


def test_a_mapped_address_is_the_one_it_maps():
    assert OURS.seen_through(scope("::ffff:10.0.0.1", x_forwarded_proto="https"))["scheme"] == "https"


@pytest.mark.parametrize("scheme", ["ftp", "javascript", "", "HTTPSX"])
def test_a_scheme_that_is_none_is_left_out(scheme):
    assert OURS.seen_through(scope(x_forwarded_proto=scheme))["scheme"] == "http"


@pytest.mark.parametrize("path", ["/api/session", "/towpath/api/session"])
def test_a_base_path_is_there_whether_or_not_the_proxy_took_it_off(path):
    found = Proxies(base_path="/towpath").seen_through(scope(path=path))
    assert (found["root_path"], found["path"]) == ("/towpath", "/towpath/api/session")


def test_a_base_path_stands_before_where_the_server_is_mounted():
    found = Proxies(base_path="/towpath").seen_through(scope(path="/jobs/api", root_path="/jobs"))
    assert (found["root_path"], found["path"]) == ("/towpath/jobs", "/towpath/jobs/api")


def test_a_proxy_may_tell_the_base_path():
    found = OURS.seen_through(scope(x_forwarded_prefix="/towpath/"))
    assert (found["root_path"], found["path"]) == ("/towpath", "/towpath/api/session")
    assert OURS.seen_through(scope(x_forwarded_prefix="//evil.test"))["root_path"] == ""


@pytest.mark.parametrize("path", ["towpath", "//evil.test", "/a b", "/a;b", '/a"b'])
def test_a_base_path_is_a_plain_path(path):
    with pytest.raises(ConfigurationError, match="TOWPATH_BASE_PATH"):
        check_base_path(path)


def test_proxies_are_addresses_and_networks():
    with pytest.raises(ConfigurationError, match="TOWPATH_TRUSTED_PROXIES"):
        parse_networks("10.0.0.1, proxy.internal")


async def test_a_session_works_below_a_base_path_and_its_cookie_is_for_it(open_site):
    site = await open_site(base_path="/towpath", base="http://jobs.example")
    await site.account("alice")
    browser = site.browser()
    answer = await browser.post("/towpath/api/session", json={"name": "alice", "password": PASSWORD})
    assert "Path=/towpath" in answer.headers["set-cookie"].split("; ")
    assert (await browser.get("/towpath/api/session")).status_code == 200


async def test_a_session_works_where_the_server_is_mounted_in_another_app(site):
    outer = FastAPI()
    outer.mount("/jobs", site.api)
    mounted = Site(site.app, outer)
    account = await site.account("alice")
    browser = mounted.browser()
    answer = await browser.post("/jobs/api/session", json={"name": "alice", "password": PASSWORD})
    assert "Path=/jobs" in answer.headers["set-cookie"].split("; ")
    assert (await browser.get("/jobs/api/session")).json()["account"]["id"] == account.id
    assert (await browser.get("/jobs/api/session")).headers["cache-control"] == "no-store"


async def test_behind_a_trusted_proxy_links_cookies_and_throttling_see_the_client(open_site):
    site = await open_site(trusted_proxies="203.0.113.7")
    account = await site.account("alice", admin=True)
    forwarded = {"x-forwarded-for": "198.51.100.4", "x-forwarded-proto": "https", "x-forwarded-host": "jobs.example"}
    browser = site.program(origin="https://jobs.example", **forwarded)
    answer = await browser.post("/api/session", json={"name": "alice", "password": PASSWORD})
    assert "Secure" in answer.headers["set-cookie"].split("; ")
    assert "strict-transport-security" in answer.headers
    program = site.program(await site.token(account), **forwarded)
    link = await program.post(f"/api/users/{account.id}/reset-link")
    assert link.json()["url"].startswith("https://jobs.example/reset?token=")
    [line, login] = (await program.get("/api/audit")).json()["items"]
    assert line["address"] == login["address"] == "198.51.100.4"


async def test_a_base_url_in_the_settings_is_what_links_have(open_site):
    site = await open_site(base_url="https://jobs.example/towpath")
    account = await site.account("alice", admin=True)
    program = site.program(await site.token(account))
    link = await program.post(f"/api/users/{account.id}/reset-link")
    assert link.json()["url"].startswith("https://jobs.example/towpath/reset?token=")


async def test_a_forged_header_does_not_help_against_throttling(site):
    for number in range(25):
        program = site.program(**{"x-forwarded-for": f"198.51.100.{number}"})
        answer = await program.post("/api/session", json={"name": f"name-{number}", "password": "x"})
    problem(answer, 429, "throttled")
