"""Requests that are too large are refused as early as possible."""

import asyncio

import httpx

from tests.http.serving import served
from tests.http.site import problem
from towpath.http.bodies import MARGIN


async def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(open_site):
    site = await open_site(max_payload_bytes=1000)
    browser = await site.logged_in("alice")
    answer = await browser.post("/api/tokens", content=b"x" * (MARGIN + 1001), headers={"content-type": "application/json"})
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

    answer = await program.post("/api/tokens", content=many(), headers={"content-type": "application/json"})
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
                answer = await client.post("/api/tokens", content=endless(), headers=headers)
            except httpx.TransportError:  # the connection was gone before the answer was read
                return
        problem(answer, 413, "too_large")


async def test_a_large_body_within_the_limit_is_read(open_site):
    site = await open_site(max_payload_bytes=1000)
    browser = await site.logged_in("alice")
    body = b'{"name": "x", "scopes": ["read"]' + b" " * MARGIN + b"}"
    answer = await browser.post("/api/tokens", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 201
