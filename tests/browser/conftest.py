"""One browser for all tests; a server for each file of them, and in it a tenant for each test."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from pytest_asyncio import fixture

from tests.browser.chromium import launched
from tests.browser.place import Place, fresh, opened_place
from tests.browser.visitors import Visitor, visiting
from tests.http.hashing import hash_quickly
from tests.models.wire_server import Answer, Asked, WireServer

expect.set_options(timeout=20_000)

Visit = Callable[..., Awaitable[Visitor]]


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    hash_quickly(monkeypatch)


@fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def wire() -> Iterator[WireServer]:
    """A chat endpoint, for servers of tests that have one."""
    with WireServer() as server:
        server.always = _answer
        yield server


def _answer(asked: Asked) -> Answer:
    """Quotes the first words of the first passage for a question, and says one thing of anything else."""
    question = str(asked.json()["messages"][1]["content"])
    passage = re.search(r"\[1\] [^\n]*\n(.{10,60}?[.!?]|.{40})", question, re.DOTALL)
    text = f"{passage[1]} [1]" if passage else "A summary of its own kind."
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return Answer({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 5}})


@fixture(scope="module", loop_scope="session")
async def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with opened_place(tmp_path_factory.mktemp("place")) as place:
        yield place


@fixture(loop_scope="session")
async def visit(browser: Browser, place: Place) -> AsyncIterator[Visit]:
    """Opens a browser on the place; at the end no page may have complained."""
    visitors: list[Visitor] = []
    async with AsyncExitStack() as stack:

        async def open_browser(**options: Any) -> Visitor:
            visitors.append(await stack.enter_async_context(visiting(browser, place.address, **options)))
            return visitors[-1]

        yield open_browser
        complaints = [complaint for visitor in visitors for complaint in visitor.complaints]
    assert not complaints, complaints


@pytest.fixture
def tenant() -> str:
    return fresh("tenant")


@fixture(loop_scope="session")
async def ann(visit: Visit, place: Place, tenant: str) -> Visitor:
    """A member of the test's tenant, logged in."""
    visitor = await visit()
    await visitor.enter(await place.person(fresh("ann"), tenant))
    return visitor


@fixture(loop_scope="session")
async def root(visit: Visit, place: Place, tenant: str) -> Visitor:
    """An administrator, logged in."""
    visitor = await visit()
    await visitor.enter(await place.person(fresh("root"), tenant, admin=True))
    return visitor
