"""Headers that keep browsers from doing more with an answer than was meant."""

import pytest

from tests.http.site import HOST

PATHS = ["/", "/jobs/whatever", "/api/session", "/api/nothing", "/healthz"]


def directives(answer):
    policy = answer.headers["content-security-policy"]
    return dict(part.strip().partition(" ")[::2] for part in policy.split(";"))


@pytest.mark.parametrize("path", PATHS)
async def test_every_answer_has_them_errors_included(site, path):
    headers = (await site.program().get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "strict-transport-security" not in headers


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_foreign_and_nothing_inline_is_loaded(site, path):
    policy = directives(await site.program().get(path))
    assert policy["frame-ancestors"] == "'none'"
    allowed = " ".join(policy.values())
    for word in ("unsafe-inline", "unsafe-eval", "http:", "https:", "*", "blob:"):
        assert word not in allowed
    assert policy["default-src"] in ("'self'", "'none'")
    assert policy.get("script-src", "'none'") in ("'self'", "'none'")


async def test_data_is_not_kept_in_caches(site):
    assert (await site.program().get("/api/session")).headers["cache-control"] == "no-store"


async def test_over_https_browsers_are_told_to_stay_with_it(open_site):
    site = await open_site(base=HOST.replace("http:", "https:"))
    assert "max-age=31536000" in (await site.program().get("/api/session")).headers["strict-transport-security"]


async def test_each_request_has_an_id_of_its_own_and_takes_none_from_outside(site):
    program = site.program(**{"x-request-id": "mine"})
    ids = {(await program.get("/healthz")).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert "mine" not in ids
