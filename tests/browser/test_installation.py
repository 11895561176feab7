"""`towpath up` as somebody meets it: the link it prints, the empty pages, and an open page when it is restarted."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from pytest_asyncio import fixture

from tests.browser.upright import make_app
from tests.browser.visitors import Visitor, visiting
from tests.cli.commands import Process, started
from tests.engine.working import eventually
from tests.server.push.serving import free_port
from towpath.cli.data import database_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/login\?token=(\S+)")
NARROW = 380
EMPTY = {
    "/jobs": "No jobs yet",
    "/jobs?state=failed": "No job matches this filter",
    "/inbox": "The inbox is empty",
    "/queues": "default",
    "/workers": "towpath up",
    "/schedules": "documents.tidy",
    "/settings/tokens": "There are none yet.",
    "/settings/webhooks": "There are none yet.",
    "/settings/prices": "No prices yet.",
    "/settings/limits": "No limits yet.",
}
_FETCHED = "(name) => performance.getEntriesByType('resource').some((one) => one.name.includes(name) && one.responseEnd)"
# A killed server breaks off in the middle of an answer.
CUT_OFF = ("ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONTENT_LENGTH_MISMATCH", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
AWAY = ("ERR_CONNECTION_REFUSED", *CUT_OFF)


@contextmanager
def towpath_up(data: Path, port: int) -> Iterator[Process]:
    command = ("up", "--app", "tests.browser.upright:app", "--data", data, "--port", port, "--no-example")
    with started(*command, cwd=ROOT, env={"TOWPATH_DRAIN_SECONDS": "0.1"}) as process:
        yield process


async def printed_link(process: Process) -> re.Match[str]:
    def found() -> re.Match[str] | None:
        assert process.popen.poll() is None, process.out + process.err
        return LINK.search(process.out)

    return await eventually(found, within=60)


@fixture(loop_scope="session")
async def installed(browser: Browser, tmp_path: Path) -> AsyncIterator[re.Match[str]]:
    """A fresh one, without a single job; answers its link."""
    with towpath_up(tmp_path / "data", 0) as process:
        yield await printed_link(process)


async def test_a_fresh_installation_opens_by_its_link_and_every_empty_page_says_what_belongs_there(
    browser: Browser, installed: re.Match[str]
):
    async with visiting(browser, installed[1], viewport={"width": NARROW, "height": 760}) as visitor:
        page = visitor.page
        await page.goto(installed[0])
        await expect(page.get_by_role("heading", level=1)).to_have_text("All is quiet")
        await expect(page).to_have_url(f"{installed[1]}/")
        for text in ("Nothing runs at the moment.", "Nothing has failed.", "No step has metered a model"):
            await expect(page.get_by_text(text)).to_be_visible()
        for path, text in EMPTY.items():
            await visitor.open(path)
            await expect(page.get_by_role("main").get_by_text(text).first).to_be_visible()
            await visitor.settled()
            assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW, f"{path} does not fit"
        assert not visitor.complaints, visitor.complaints
    async with visiting(browser, installed[1]) as other:
        other.expects("status of 401")
        await other.page.goto(installed[0])
        await expect(other.page.get_by_role("alert")).to_contain_text("this link does not hold any more")
        await expect(other.page.get_by_text("towpath login-link", exact=True)).to_be_visible()
        assert not other.complaints, other.complaints


async def make(visitor: Visitor, operation: str, payload: object) -> str:
    """Enqueues as the page itself would; answers the id."""
    answer = await visitor.context.request.post(
        f"{visitor.address}/api/jobs", data={"operation": operation, "payload": payload}, headers={"Origin": visitor.address}
    )
    assert answer.status == 201, await answer.text()
    return str((await answer.json())["id"])


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
async def test_an_open_page_tells_that_the_server_is_away_and_catches_up_when_it_is_back(
    browser: Browser, tmp_path: Path, how: signal.Signals
):
    data, port = tmp_path / "data", free_port()
    with towpath_up(data, port) as process:
        link = await printed_link(process)
        async with visiting(browser, link[1]) as visitor:
            visitor.expects(*AWAY)
            page = visitor.page
            await page.goto(f"{link[0]}&next=/jobs")
            await expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
            moored = await make(visitor, "moor", None)
            row = page.get_by_role("row").filter(has_text=moored[-8:])
            await expect(row).to_contain_text("Running")
            await page.evaluate("window.loadedOnce = true")

            process.popen.send_signal(how)
            await asyncio.to_thread(process.end, 30)
            await expect(page.get_by_role("status").get_by_text("Reconnecting")).to_be_visible()
            await expect(row).to_be_visible()
            async with make_app(database_in(data)) as app:
                await app.cancel(moored)
                said = (await app.enqueue("say", "meanwhile", key="sent while away")).id

            with towpath_up(data, port) as again:
                await printed_link(again)
                await expect(page.get_by_role("status").get_by_text("Live", exact=True)).to_be_visible()
                await expect(row).to_contain_text("Cancelled")
                news = page.get_by_role("row").filter(has_text=said[-8:])
                await expect(news).to_contain_text("sent while away")
                await expect(news).to_contain_text("Succeeded")
                later = await make(visitor, "moor", None)
                await expect(page.get_by_role("row").filter(has_text=later[-8:])).to_contain_text("Running")
                assert await page.evaluate("window.loadedOnce"), "the page was loaded again"
                assert not visitor.complaints, visitor.complaints


async def test_pages_not_yet_visited_open_while_the_server_is_away_and_after_it_is_back(browser: Browser, tmp_path: Path):
    """All but one were fetched ahead; that one was not to be had, as after an upgrade, and comes by a whole load."""
    data, port = tmp_path / "data", free_port()
    with towpath_up(data, port) as process:
        link = await printed_link(process)
        async with visiting(browser, link[1]) as visitor:
            visitor.expects(*AWAY, "net::ERR_FAILED")
            page = visitor.page
            await page.route("**/assets/JobsPage-*", lambda route: route.abort())
            await page.goto(f"{link[0]}&next=/recordings")
            await page.wait_for_function(_FETCHED, arg="/assets/engine-")
            await page.evaluate("window.loadedOnce = true")

            process.popen.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.end, 30)
            await expect(page.get_by_role("status").get_by_text("Reconnecting")).to_be_visible()
            menu = page.get_by_role("navigation", name="Main")
            await menu.get_by_role("link", name="Queues").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Queues")
            await menu.get_by_role("link", name="Jobs").click()
            await expect(page.get_by_role("status").get_by_text("The server does not answer")).to_be_visible()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Queues")
            assert await page.evaluate("window.loadedOnce")
            await page.unroute("**/assets/JobsPage-*")

            with towpath_up(data, port) as again:
                await printed_link(again)
                await expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
                assert not await page.evaluate("window.loadedOnce"), "the page was not loaded as a whole"
                assert not visitor.complaints, visitor.complaints


@pytest.mark.parametrize("width", [1280, NARROW])
async def test_the_example_is_called_an_example_on_every_page_and_goes_with_one_click(
    browser: Browser, tmp_path: Path, width: int
):
    with started("up", "--data", tmp_path / "d", "--port", "0", env={"TOWPATH_DRAIN_SECONDS": "0.2"}) as process:
        await eventually(lambda: _linked(process), within=60)
        base, token = LINK.search(process.out).groups()
        async with visiting(browser, base) as visitor:
            await visitor.page.set_viewport_size({"width": width, "height": 800})
            await visitor.enter(f"{base}/login?token={token}")
            for path in ("/", "/jobs", "/inbox", "/queues", "/schedules"):
                page = await visitor.open(path)
                await expect(page.get_by_text("An example runs here.")).to_be_visible()
                overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
                assert not await page.evaluate(overflow), path
            await page.get_by_role("button", name="Remove the example").click()
            await expect(page.get_by_text("An example runs here.")).to_have_count(0, timeout=60_000)
            page = await visitor.open("/jobs")
            await expect(page.get_by_text("No jobs yet")).to_be_visible()


async def _linked(process: Process) -> bool:
    return LINK.search(process.out) is not None
