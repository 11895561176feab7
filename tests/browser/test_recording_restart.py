"""The server is killed while one person's files are on their way and another's are being transcribed; nothing is lost."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.recordings import Desk, said
from tests.browser.test_installation import AWAY, LINK, ROOT
from tests.browser.visitors import visiting
from tests.cli.commands import Process, started
from tests.engine.working import eventually
from tests.server.push.serving import free_port
from towpath import App
from towpath.cli.data import database_in
from towpath.identity import accounts, links
from towpath.server import attach

pytestmark = pytest.mark.asyncio(loop_scope="session")

PEOPLE = ("ann", "bob")
SLOW = 40_000


@contextmanager
def towpath_up(home: Path, port: int, listens_from: Path) -> Iterator[Process]:
    command = ("up", "--app", "tests.browser.listening_later:app", "--data", home, "--port", port, "--no-example")
    settings = {"LISTENS_FROM": str(listens_from), "TOWPATH_LEASE_SECONDS": "2", "TOWPATH_POLL_SECONDS": "0.2"}
    with started(*command, cwd=ROOT, env=settings) as process:
        yield process


async def running(process: Process) -> None:
    def found() -> bool:
        assert process.popen.poll() is None, process.out + process.err
        return LINK.search(process.out) is not None

    await eventually(found, within=60)


@asynccontextmanager
async def desks(browser: Browser, home: Path, address: str) -> AsyncIterator[list[Desk]]:
    """Everybody at a browser of their own, each of a tenant of their own."""
    async with AsyncExitStack() as stack:
        found = []
        async with attach(App(database_in(home))) as app:
            for name in PEOPLE:
                account = await accounts.create(app.services.store, name, tenants=[f"{name}s"], admin=False)
                secret, _ = await links.make(app.services.store, account.id, "login")
                visitor = await stack.enter_async_context(visiting(browser, address))
                visitor.expects(*AWAY)
                await visitor.enter(links.url_of(address, "login", secret))
                found.append(Desk(visitor))
        for desk in found:
            await desk.open()
        yield found


def titles(name: str) -> list[str]:
    return [f"{name} {number}" for number in (1, 2, 3)]


async def test_files_of_two_people_become_transcripts_although_the_server_is_killed(browser: Browser, tmp_path: Path):
    home, port, listens_from = tmp_path / "data", free_port(), tmp_path / "listen"
    with towpath_up(home, port, listens_from) as process:
        await running(process)
        async with desks(browser, home, f"http://127.0.0.1:{port}") as people:
            ann, bob = people
            await bob.slow_down(SLOW)
            for name, desk in zip(PEOPLE, people, strict=True):
                await desk.upload({f"{title}.wav": said("wav") for title in titles(name)})
            await expect(ann.docked("ann 1")).to_contain_text("Transcribing")
            await expect(ann.docked("ann 3")).to_contain_text("Queued")
            await expect(bob.staged("bob 1")).to_contain_text("KiB of")

            process.popen.send_signal(signal.SIGKILL)
            await asyncio.to_thread(process.end, 30)
            await expect(bob.staged("bob 1")).to_contain_text("waits for the network")
            await expect(bob.staging.get_by_role("listitem")).to_have_count(3)
            await ann.expect_counts(active=3)
            await bob.slow_down(None)
            listens_from.touch()
            with towpath_up(home, port, listens_from) as again:
                await running(again)
                for name, desk in zip(PEOPLE, people, strict=True):
                    await expect_finished(desk, titles(name))
                    await desk.page.reload()
                    await expect_finished(desk, titles(name))
                    assert not desk.visitor.complaints, desk.visitor.complaints


async def expect_finished(desk: Desk, wanted: list[str]) -> None:
    """Each once, with what was said in it, and nobody else's."""
    for title in wanted:
        await expect(desk.listed(title)).to_contain_text("Done", timeout=60_000)
    await desk.expect_list(*wanted)
    await desk.expect_counts(active=0, failed=0)
    await desk.expect_dock("done", *wanted)
    found = await desk.recordings()
    assert {title: one["status"] for title, one in found.items()} == dict.fromkeys(wanted, "COMPLETED")
    assert all(one["has_transcript"] and not one["warning"] for one in found.values())
