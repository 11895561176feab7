"""A slice brings its routes: they are the server's like any others, with its policies, problems, pages and audit log."""

import pytest
from fastapi import APIRouter

from tests.engine.working import on_sqlite
from tests.server.api.notebook import add_notebook
from tests.server.api.site import Site, ok, opened_site, problem
from towpath import App, ConfigurationError
from towpath.http.policy import Reader
from towpath.http.routes import add_routes
from towpath.http.routing import Router
from towpath.server import create_app


@pytest.fixture
async def site(app: App, tmp_path):
    add_notebook(app, tmp_path)
    add_notebook(app, tmp_path)
    async with opened_site(app) as site:
        yield site


async def lines(site: Site, action: str) -> list[dict]:
    return [line for line in ok(await site.root.get("/api/audit"))["items"] if line["action"] == action]


async def test_its_routes_serve_whoever_its_policies_let_in(site: Site):
    made = ok(await site.ann.post("/api/notes", json={"text": "buy rope"}), 201)
    assert ok(await site.ann.get(f"/api/notes/{made['id']}")) == made
    assert made["at"].endswith("Z")
    problem(await site.bob.get(f"/api/notes/{made['id']}"), 404, "not_found")
    problem(await site.nobody.get("/api/notes"), 401, "unauthenticated")
    problem(await site.ann.post("/api/notes", json={"text": "x", "colour": "red"}), 422, "invalid")
    problem(await site.ann.get("/api/notes", params={"colour": "red"}), 422, "invalid")


async def test_pages_go_on_where_the_one_before_ended(site: Site):
    for text in ("a", "b", "c"):
        ok(await site.ann.post("/api/notes", json={"text": text}), 201)
    first = ok(await site.ann.get("/api/notes"))
    assert [note["text"] for note in first["items"]] == ["c", "b"]
    rest = ok(await site.ann.get("/api/notes", params={"after": first["next"]}))
    assert ([note["text"] for note in rest["items"]], rest["next"]) == (["a"], None)


async def test_a_line_of_the_audit_log_commits_with_what_it_is_about(site: Site):
    made = ok(await site.ann.post("/api/notes", json={"text": "buy rope"}), 201)
    problem(await site.ann.post("/api/notes", json={"text": "bad"}), 409, "conflict")
    [line] = await lines(site, "note.add")
    assert (line["account"], line["tenant"], line["target"]) == ("ann", "north", made["id"])
    assert line["details"] == {"letters": 8}
    assert await lines(site, "add_note") == []  # it has said what it did


async def test_they_are_in_the_servers_openapi_with_what_every_route_may_answer(site: Site):
    document = site.api.openapi()
    assert set(document["paths"]["/api/notes"]) == {"get", "post"}
    assert {"201", "401", "403", "409", "422", "503"} <= set(document["paths"]["/api/notes"]["post"]["responses"])


@on_sqlite
def test_they_are_looked_for_when_a_server_is_made_and_not_before(app: App):
    asked = []
    add_routes(app, lambda: asked.append(1) or Router())
    assert asked == []
    create_app(app)
    assert asked == [1]


@on_sqlite
def test_a_route_that_somebody_else_has_is_refused(app: App):
    router = Router(prefix="/api/jobs")

    @router.get("/{number}")
    async def job(_principal: Reader, number: str) -> None: ...

    add_routes(app, lambda: router)
    with pytest.raises(ConfigurationError, match=r"GET /api/jobs/\{number\} and /api/jobs/\{id\}"):
        create_app(app)


@on_sqlite
def test_a_route_without_a_policy_is_refused(app: App):
    router = APIRouter(prefix="/api/loose")

    @router.get("")
    async def loose() -> None: ...

    add_routes(app, lambda: router)
    with pytest.raises(ConfigurationError, match="/api/loose"):
        create_app(app)
