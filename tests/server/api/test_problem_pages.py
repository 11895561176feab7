"""The type of a problem document leads to a page that explains it; for everybody, with or without the UI."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.server.api.site import client, problem
from towpath import App
from towpath.http.problem_kinds import KINDS
from towpath.server import ServerOptions, create_app


@pytest.fixture(params=[True, False], ids=["with the UI", "without the UI"])
async def nobody(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    async with client(create_app(App(f"sqlite:///{tmp_path}/x.db"), ServerOptions(ui=request.param))) as browser:
        yield browser


@pytest.mark.parametrize("slug", KINDS)
async def test_each_kind_has_a_page(nobody: httpx.AsyncClient, slug: str):
    page = await nobody.get(f"/problems/{slug}")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert f"<h1><code>{slug}</code></h1>" in page.text
    assert "`" not in page.text
    assert all(f"<li>{status}: " in page.text for status in KINDS[slug].statuses)


async def test_the_type_of_an_answer_is_the_address_of_its_page(nobody: httpx.AsyncClient):
    document = problem(await nobody.get("/api/jobs"), 401, "unauthenticated")
    assert "API token" in (await nobody.get(document["type"])).text


@pytest.mark.parametrize("slug", ["unheard_of", "<script>"])
async def test_a_kind_there_is_not_is_not_found(nobody: httpx.AsyncClient, slug: str):
    problem(await nobody.get(f"/problems/{slug}"), 404, "not_found")
