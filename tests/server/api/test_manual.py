"""The API's page for people, and the addresses where programs look for its description."""

from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.api.site import client
from towpath import App
from towpath.server import ServerOptions, create_app, openapi


@pytest.fixture(params=[True, False], ids=["with the UI", "without the UI"])
async def nobody(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    async with client(create_app(App(f"sqlite:///{tmp_path}/x.db"), ServerOptions(ui=request.param))) as browser:
        yield browser


class Seen(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                assert value not in self.ids
                self.ids.add(value)
            elif name in ("href", "src"):
                self.links.add(value)
            assert name != "style"
            assert not name.startswith("on")


async def test_the_page_tells_of_every_operation_and_every_shape(nobody: httpx.AsyncClient):
    answer = await nobody.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    seen, document = Seen(answer.text), openapi.document()
    operations = {one["operationId"] for methods in document["paths"].values() for one in methods.values()}
    shapes = {f"shape-{name}" for name, one in document["components"]["schemas"].items() if "properties" in one}
    assert operations | shapes <= seen.ids
    assert all(path in answer.text for path in document["paths"])


async def test_nothing_on_it_comes_from_elsewhere_and_every_link_leads_somewhere(
    nobody: httpx.AsyncClient, request: pytest.FixtureRequest
):
    with_ui = "with the UI" in request.node.name
    answer = await nobody.get("/docs")
    seen = Seen(answer.text)
    assert "script" not in seen.tags
    assert {link for link in seen.links if link.startswith("docs#")} <= {f"docs#{name}" for name in seen.ids}
    others = {link for link in seen.links if not link.startswith("docs#")}
    assert others == {"/", "docs/style.css", "api/openapi.json", "settings/tokens"} | ({"mark.svg"} if with_ui else set())
    assert not with_ui or (await nobody.get("/mark.svg")).headers["content-type"].startswith("image/svg")
    assert (await nobody.get("/docs/style.css")).headers["content-type"].startswith("text/css")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


async def test_it_follows_the_path_the_server_is_mounted_at(tmp_path: Path):
    api = create_app(App(f"sqlite:///{tmp_path}/x.db"), ServerOptions(base_path="/jobs"))
    async with client(api) as nobody:
        assert '<base href="/jobs/">' in (await nobody.get("/jobs/docs")).text
        assert (await nobody.get("/jobs/openapi.json")).headers["location"] == "/jobs/api/openapi.json"


@pytest.mark.parametrize("address", ["/openapi.json", "/redoc"])
async def test_where_other_servers_have_it_leads_there(nobody: httpx.AsyncClient, address: str):
    answer = await nobody.get(address)
    assert answer.status_code == 308
    found = await nobody.get(answer.headers["location"])
    assert found.status_code == 200
    assert "Towpath" in found.text
    assert "/src/main.ts" not in found.text
