"""Requests that are too large are refused as early as possible."""

import asyncio
from types import SimpleNamespace

import httpx
import pytest

from tests.http.serving import served
from tests.http.site import problem
from towpath.http import routing
from towpath.http.bodies import MARGIN, SMALL
from towpath.http.routing import MOST_VALUES

JSON = {"content-type": "application/json"}


async def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(open_site):
    site = await open_site(max_payload_bytes=1000)
    browser = await site.logged_in("alice")
    answer = await browser.post("/api/jobs", content=b"x" * (MARGIN + 1001), headers={"content-type": "application/json"})
    document = problem(answer, 413, "too_large")
    assert f"{MARGIN + 1000:,} bytes" in document["detail"]


async def test_a_body_in_pieces_is_refused_when_too_much_of_it_has_come(open_site):
    site = await open_site(max_payload_bytes=1000)
    program = site.program(await site.token(await site.account("alice")))
    pieces = 0

    async def many():
        nonlocal pieces
        for pieces in range(1000):  # noqa: B007  (how far it came is what is looked at)
            yield b" " * 65536

    answer = await program.post("/api/jobs", content=many(), headers={"content-type": "application/json"})
    problem(answer, 413, "too_large")
    assert pieces <= MARGIN // 65536 + 1


async def test_a_body_without_end_is_cut_off(open_site):
    """Over a real connection: the server does not go on taking what it has refused."""
    site = await open_site(max_payload_bytes=1000, base="http://127.0.0.1")
    token = await site.token(await site.account("alice"))

    async def endless():
        while True:
            yield b"x" * 65536

    async with served(site.api) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", verify=False) as client:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        async with asyncio.timeout(30):
            try:
                answer = await client.post("/api/jobs", content=endless(), headers=headers)
            except httpx.TransportError:  # the connection was gone before the answer was read
                return
        problem(answer, 413, "too_large")


async def test_a_large_body_within_the_limit_is_read(open_site):
    site = await open_site(max_payload_bytes=1000)
    browser = await site.logged_in("alice")
    body = b'{"operation": "unheard_of"' + b" " * MARGIN + b"}"
    answer = await browser.post("/api/jobs", content=body, headers=JSON)
    assert "unheard_of" in problem(answer, 404, "not_found")["detail"]


async def test_where_no_payload_is_due_a_body_is_small(site):
    browser = await site.logged_in("alice")
    body = b'{"name": "x", "scopes": ["read"]' + b" " * SMALL + b"}"
    document = problem(await browser.post("/api/tokens", content=body, headers=JSON), 413, "too_large")
    assert f"{SMALL:,} bytes" in document["detail"]


def operations(api):
    for path, methods in api.openapi()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path.replace("{", "").replace("}", ""), operation


async def unsent(api, method, path, content_type, length=b"100"):
    """The answer to a request whose body never comes."""
    headers = [(b"host", b"towpath.test"), (b"content-type", content_type.encode()), (b"content-length", length)]
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers,
        "http_version": "1.1", "scheme": "http", "server": ("towpath.test", 80), "client": ("203.0.113.7", 4711),
        "root_path": "", "asgi": {"version": "3.0"}, "state": {},
    }  # fmt: skip
    status, asked = None, asyncio.Event()

    async def receive():
        asked.set()
        await asyncio.get_running_loop().create_future()

    async def send(message):
        nonlocal status
        status = status or message.get("status")

    task = asyncio.ensure_future(api(scope, receive, send))
    waiting = asyncio.ensure_future(asked.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    if asked.is_set():
        task.cancel()
        return "waits for the body"
    waiting.cancel()
    await task
    return status


async def test_nobody_is_waited_for_or_read_before_it_is_known_who_it_is(site):
    """Every route that needs somebody, called by nobody, with a body that never comes."""
    seen = 0
    for method, path, operation in operations(site.api):
        if "security" not in operation or {} in operation["security"]:
            continue
        kinds = [*operation.get("requestBody", {}).get("content", {"application/json": {}})]
        assert await unsent(site.api, method, path, kinds[0]) == 401, f"{method} {path}"
        seen += 1
    assert seen > 50


async def test_the_ways_in_are_open_and_read_only_a_little(site):
    for path in ("/api/session", "/api/session/link", "/api/session/reset"):
        assert await unsent(site.api, "POST", path, "application/json") == "waits for the body"
        assert await unsent(site.api, "POST", path, "application/json", str(SMALL + 1).encode()) == 413


async def test_a_body_of_very_many_values_is_refused_before_it_is_parsed(site, monkeypatch):
    program = site.program(await site.token(await site.account("alice"), scopes=["read", "write"]))

    def parsed(_body):
        raise AssertionError("it was parsed")

    monkeypatch.setattr(routing, "json", SimpleNamespace(loads=parsed))
    body = b'{"payload": [' + b"[]," * MOST_VALUES + b"[]]}"
    document = problem(await program.post("/api/jobs", content=body, headers=JSON), 422, "invalid")
    assert "500,000 values" in document["detail"]


@pytest.mark.parametrize("levels", [202, 999, 100_000])
async def test_a_body_that_is_nested_too_deeply_is_told_so(site, levels):
    program = site.program(await site.token(await site.account("alice"), scopes=["read", "write"]))
    body = b'{"operation": "x", "payload": ' + b"[" * levels + b"]" * levels + b"}"
    document = problem(await program.post("/api/jobs", content=body, headers=JSON), 422, "invalid")
    assert "200 levels" in document["detail"]
