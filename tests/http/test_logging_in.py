"""By name and password into a session, and out again."""

import pytest

from tests.http.site import PASSWORD, cookie_of, problem
from towpath.http.cookies import COOKIE


async def log_in(browser, name="alice", password=PASSWORD):
    return await browser.post("/api/session", json={"name": name, "password": password})


async def test_a_password_opens_a_session_with_what_the_account_may_do(any_site):
    await any_site.account("alice", tenants=["acme", "globex"])
    async with any_site.browser() as browser:
        answer = await log_in(browser)
        assert answer.status_code == 200
        session = answer.json()
        assert session == (await browser.get("/api/session")).json()
    assert (session["account"]["name"], session["account"]["admin"]) == ("alice", False)
    assert (session["tenant"], session["tenants"]) == ("acme", ["acme", "globex"])
    assert session["scopes"] == ["read", "write"]
    assert session["local"] is False


async def test_an_administrators_session_has_every_scope(site):
    async with await site.logged_in("root", admin=True) as browser:
        assert (await browser.get("/api/session")).json()["scopes"] == ["read", "write", "priority", "admin"]


async def test_a_name_is_found_in_any_spelling(site):
    await site.account("Zoë")
    async with site.browser() as browser:
        assert (await log_in(browser, "  zoë ")).json()["account"]["name"] == "Zoë"


@pytest.mark.parametrize(
    ("name", "password"),
    [("alice", "wrong quiet barges"), ("nobody", PASSWORD), ("disabled", PASSWORD), ("by-link-only", PASSWORD)],
)
async def test_a_refusal_does_not_say_what_was_wrong(site, name, password):
    await site.account("alice")
    await site.account("by-link-only", password=None)
    disabled = await site.account("disabled")
    async with await site.logged_in("root", admin=True) as admin:
        assert (await admin.patch(f"/api/users/{disabled.id}", json={"disabled": True})).status_code == 200
    async with site.browser() as browser:
        document = problem(await log_in(browser, name, password), 401, "login_refused")
        told = (document["title"], document["detail"])
        assert told == ("The log-in was refused", "the name or the password is wrong")
        assert cookie_of(browser) is None


async def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(site):
    await site.account("alice")
    async with site.browser() as browser:
        cookie = (await log_in(browser)).headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie


async def test_over_https_the_cookie_is_for_https_only(open_site):
    site = await open_site(base="https://towpath.test")
    await site.account("alice")
    async with site.browser() as browser:
        assert "Secure" in (await log_in(browser)).headers["set-cookie"].split("; ")


async def test_logging_in_gives_a_new_session_and_ends_the_one_the_browser_had(any_site):
    """A session that somebody planted in the browser before must not become the victim's."""
    await any_site.account("alice")
    async with any_site.browser() as browser, any_site.browser() as planter:
        await log_in(browser)
        planted = cookie_of(browser)
        await log_in(browser)
        assert cookie_of(browser) != planted
        planter.cookies.set(COOKIE, planted)
        problem(await planter.get("/api/session"), 401, "unauthenticated")
        assert (await browser.get("/api/session")).status_code == 200


async def test_logging_out_ends_the_session_here_and_its_cookie(any_site):
    await any_site.account("alice")
    async with any_site.browser() as browser, any_site.browser() as other:
        await log_in(browser)
        kept = cookie_of(browser)
        assert (await browser.delete("/api/session")).status_code == 204
        assert cookie_of(browser) is None
        other.cookies.set(COOKIE, kept)
        problem(await other.get("/api/session"), 401, "unauthenticated")


async def test_logging_out_without_a_session_is_no_error(site):
    async with site.browser() as browser:
        assert (await browser.delete("/api/session")).status_code == 204


async def test_logging_out_everywhere_ends_all_sessions_of_the_account_and_nobody_elses(any_site):
    await any_site.account("alice")
    async with any_site.browser() as one, any_site.browser() as two, await any_site.logged_in("bob") as bob:
        await log_in(one)
        await log_in(two)
        assert (await one.delete("/api/session?everywhere=true")).status_code == 204
        problem(await two.get("/api/session"), 401, "unauthenticated")
        assert (await bob.get("/api/session")).status_code == 200


async def test_the_ways_in_are_told_to_everybody(open_site):
    site = await open_site(oidc_issuer="https://id.example", oidc_client_id="x", oidc_allowed="example.com")
    async with site.program() as nobody:
        assert (await nobody.get("/api/auth/methods")).json() == {"password": True, "oidc": True, "local": False}


async def test_a_request_with_extra_fields_is_refused(site):
    async with site.browser() as browser:
        asked = {"name": "alice", "password": PASSWORD, "admin": True}
        document = problem(await browser.post("/api/session", json=asked), 422, "invalid")
    assert [item["path"] for item in document["errors"]] == ["admin"]
    assert PASSWORD not in str(document)
