"""The UI's files: hashed ones for ever, the page for every address it knows, correct below a base path."""

from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.server.api.site import client, problem
from towpath import App
from towpath.http.routing import check_policies
from towpath.server import ServerOptions, create_app, spa

PAGE = '<!doctype html><html><head><title>T</title><script src="./assets/app-1a2b.js"></script></head><body></body></html>'


@pytest.fixture
def ui(tmp_path: Path) -> Path:
    folder = tmp_path / "ui"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "assets/app-1a2b.js").write_text("console.log(1)")
    (folder / "favicon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def server(ui: Path, tmp_path: Path) -> FastAPI:
    server = create_app(App(f"sqlite:///{tmp_path}/x.db"), ServerOptions(ui=False))
    spa.install(server, ui)
    return server


async def test_hashed_assets_may_be_kept_for_ever_and_the_page_not_at_all(server: FastAPI):
    async with client(server) as browser:
        script = await browser.get("/assets/app-1a2b.js")
        assert (script.status_code, script.text) == (200, "console.log(1)")
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.headers["content-type"].startswith("text/javascript")
        icon = await browser.get("/favicon.svg")
        assert (icon.headers["content-type"], icon.headers["cache-control"]) == ("image/svg+xml", "no-cache")
        page = await browser.get("/")
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")
        assert "script-src 'self'" in page.headers["content-security-policy"]


async def test_every_address_of_the_ui_answers_the_page(server: FastAPI):
    async with client(server) as browser:
        for path in ("/", "/index.html", "/jobs", "/jobs/123", "/login?token=x", "/queues/a%2Fb", "/queues/a.b"):
            page = await browser.get(path)
            assert page.status_code == 200
            assert '<head><base href="/">' in page.text
        assert (await browser.head("/jobs")).status_code == 200
        assert (await browser.post("/jobs", json={})).status_code in (404, 405)


async def test_an_asset_that_is_gone_is_not_the_page(server: FastAPI):
    """After an upgrade an old page asks for scripts that no longer exist: HTML in their place would only confuse it."""
    async with client(server) as browser:
        assert (await browser.get("/assets/app-old.js")).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/openapi.yaml", "/openapi.yml", "/openapi", "/openapi/v1.json", "/openapi.json/", "/swagger.json",
        "/swagger-ui/index.html", "/docs/", "/docs/style.old.css", "/redoc/", "/robots.txt", "/.well-known/openapi",
    ],
)  # fmt: skip
async def test_what_programs_look_for_and_is_not_there_is_not_the_page(server: FastAPI, path: str):
    async with client(server) as program:
        problem(await program.get(path), 404, "not_found")


async def test_unknown_addresses_below_api_stay_errors(server: FastAPI):
    async with client(server) as browser:
        problem(await browser.get("/api/unheard"), 404, "not_found")
        problem(await browser.get("/api"), 404, "not_found")


async def test_below_a_base_path_the_page_says_so(server: FastAPI):
    outer = FastAPI()
    outer.mount("/tools/jobs", server)
    async with client(outer) as browser:
        assert '<base href="/tools/jobs/">' in (await browser.get("/tools/jobs/jobs/1")).text
        assert (await browser.get("/tools/jobs/assets/app-1a2b.js")).status_code == 200


async def test_a_base_path_of_the_settings_counts_whether_or_not_the_proxy_takes_it_off(ui: Path, tmp_path: Path):
    server = create_app(App(f"sqlite:///{tmp_path}/x.db"), ServerOptions(ui=False, base_path="/jobs"))
    spa.install(server, ui)
    async with client(server) as browser:
        for path in ("/", "/jobs/", "/jobs/queues"):
            assert '<base href="/jobs/">' in (await browser.get(path)).text
        assert (await browser.get("/jobs/assets/app-1a2b.js")).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/..%5csecret.txt", "//secret.txt", "/%00"],
)
async def test_no_other_file_is_reached(server: FastAPI, path: str):
    async with client(server) as browser:
        assert "secret" not in (await browser.get(path)).text


async def test_a_ui_that_was_not_built_says_how_to_build_it(tmp_path: Path):
    server = create_app(App(f"sqlite:///{tmp_path}/x.db"), ServerOptions(ui=False))
    spa.install(server, tmp_path / "nothing")
    async with client(server) as browser:
        page = await browser.get("/")
        assert (page.status_code, "make web" in page.text) == (503, True)
        assert (await browser.get("/healthz")).status_code == 200


def test_a_route_without_a_policy_does_not_start(tmp_path: Path):
    server = create_app(App(f"sqlite:///{tmp_path}/x.db"))

    @server.get("/api/loose")
    async def loose() -> str:
        return "anybody"

    with pytest.raises(Exception, match="/api/loose"):
        check_policies(server, open_paths=spa.PATHS)
