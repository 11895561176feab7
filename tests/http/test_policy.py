"""Nobody gets in anywhere unless a route says so."""

import pytest
from fastapi import APIRouter, FastAPI

from tests.http.site import problem
from towpath import App, ConfigurationError
from towpath.http.policy import Anyone, Reader, policy_of, routes_of, tenant_of
from towpath.http.problems import Problem
from towpath.http.routing import Router, check_policies
from towpath.identity.principal import Principal, scopes_of_account
from towpath.server import create_app
from towpath.server.spa import PATHS


def make(name="alice", *, admin=False, tenants=("acme", "globex")):
    return Principal("1", name, tenants[0], tenants, admin, scopes_of_account(admin), "session")


def test_every_route_of_the_server_has_a_policy(tmp_path):
    api = create_app(App(f"sqlite:///{tmp_path}/jobs.db"))
    bare = [route.path for route in routes_of(api.routes) if route.path not in PATHS and not policy_of_any(route)]
    assert bare == [api.openapi_url]


def policy_of_any(route):
    return hasattr(route, "dependant") and policy_of(route)


def test_a_server_with_a_route_without_a_policy_does_not_start():
    api, router = FastAPI(), Router(prefix="/api")

    @router.get("/fine")
    async def fine(_principal: Reader) -> None: ...

    @router.get("/open")
    async def open_to_all(_anyone: Anyone) -> None: ...

    api.include_router(router)
    check_policies(api)

    @router.get("/forgotten")
    async def forgotten() -> None: ...

    with pytest.raises(ConfigurationError, match="/api/forgotten"):
        check_policies(api)


def test_a_route_that_reads_before_it_asks_who_calls_is_refused():
    api, router = FastAPI(), APIRouter(prefix="/api")

    @router.post("/hasty")
    async def hasty(_principal: Reader) -> None: ...

    api.include_router(router)
    with pytest.raises(ConfigurationError, match="/api/hasty"):
        check_policies(api)


def test_a_plain_route_needs_to_be_named_as_open():
    api = FastAPI()
    api.router.add_route("/files", lambda _: None)
    with pytest.raises(ConfigurationError, match="/files"):
        check_policies(api)
    check_policies(api, open_paths=["/files"])


async def test_without_a_session_or_token_nothing_but_the_way_in_is_open(site):
    """Every route of the API, called by nobody."""
    paths = site.api.openapi()["paths"]
    open_ones = set()
    for path, methods in paths.items():
        for method, operation in methods.items():
            async with site.program() as nobody:
                answer = await nobody.request(method, path.replace("{", "").replace("}", ""), json={})
            if answer.status_code not in (401, 415):  # a body of the wrong kind is not even looked at
                open_ones.add(operation["operationId"])
    assert open_ones == {
        "log_out", "get_login_methods", "check_health", "check_readiness", "begin_oidc_login", "finish_oidc_login",
        "log_in", "log_in_by_link", "reset_password",
        "open_share", "play_shared_audio", "get_shared_waveform",  # whoever has the link, which is a secret
        "get_batch_input", "get_fleet_object", "put_fleet_object",  # the same
        "provider_callback",  # whoever signs as that provider does
        "pubsub_push",  # whoever bears a token of the push subscription
    }  # fmt: skip


def test_administrators_see_all_tenants_or_the_one_they_ask_for():
    assert tenant_of(make(admin=True), None) is None
    assert tenant_of(make(admin=True), "initech") == "initech"


def test_everybody_else_sees_the_tenant_they_act_for():
    assert tenant_of(make(), None) == "acme"
    assert tenant_of(make(), "acme") == "acme"


def test_another_tenant_is_forbidden_and_one_of_ones_own_can_be_switched_to():
    with pytest.raises(Problem) as foreign:
        tenant_of(make(), "initech")
    assert (foreign.value.status, foreign.value.slug, foreign.value.remedy) == (403, "forbidden", None)
    with pytest.raises(Problem) as own:
        tenant_of(make(), "globex")
    assert "/api/session/tenant" in own.value.remedy


async def test_a_query_parameter_that_no_route_knows_is_refused(site):
    root = await site.logged_in("root", admin=True)
    document = problem(await root.get("/api/users?limit=1&lmit=2"), 422, "invalid")
    assert document["errors"] == [{"path": "lmit", "message": "there is no such query parameter"}]
    assert "limit" in document["remedy"]


async def test_health_is_told_while_the_database_is_away(site, monkeypatch):
    """Also to browsers with a cookie, which nobody could look up."""
    browser = await site.logged_in("alice")

    async def away(_unit):
        raise AssertionError("the database was asked")

    monkeypatch.setattr(site.store, "read", away)
    assert (await browser.get("/healthz")).status_code == 200
