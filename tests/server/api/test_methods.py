"""Every address says which methods it takes, and takes those."""

import re

import pytest

from tests.server.api.site import client
from towpath import App
from towpath.http.policy import routes_of
from towpath.server import ServerOptions, create_app
from towpath.server.spa import PATHS

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@pytest.mark.parametrize("ui", [True, False], ids=["with the UI", "without the UI"])
async def test_allow_names_exactly_the_methods_that_are_taken(tmp_path, ui):
    app = App(f"sqlite:///{tmp_path}/x.db")
    api = create_app(app, ServerOptions(ui=ui))
    addresses = {re.sub(r"\{[^}]*\}", "x", route.path) for route in routes_of(api.routes) if route.path not in PATHS}
    assert len(addresses) > 60
    wrong = {}
    async with app, client(api) as nobody:
        for address in sorted(addresses):
            refused = await nobody.request("TRACE", address)
            allowed = refused.headers.get("allow", "none").split(", ")
            answers = {method: (await nobody.request(method, address)).status_code for method in METHODS}
            taken = sorted(method for method, status in answers.items() if status != 405)
            if refused.status_code != 405 or allowed != taken:
                wrong[address] = (refused.status_code, allowed, answers)
    assert wrong == {}


async def test_health_can_be_asked_for_without_a_body(site):
    for address in ("/healthz", "/readyz"):
        answer = await site.ann.head(address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
