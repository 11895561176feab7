"""Somebody who records with the microphone of a browser that keeps its disk, and what becomes of it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from tests.browser.chromium import launched_again
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor, watched
from tests.engine.working import eventually

Sit = Callable[..., Awaitable[Visitor]]


@asynccontextmanager
async def sitting(place: Place, tenant: str, folder: Path, heard: bytes) -> AsyncIterator[Sit]:
    """Opens the same person's browser on the same disk, with a microphone that hears this WAV file over and over."""
    voice = folder / "voice.wav"
    voice.write_bytes(heard)
    name, visitors = fresh("ann"), []
    await place.person(name, tenant)
    async with AsyncExitStack() as stack:

        async def opened(**options: Any) -> Visitor:
            context = await stack.enter_async_context(launched_again(folder / "disk", voice, **options))
            visitor = await watched(context, context.pages[0], place.address)
            visitors.append(visitor)
            await visitor.enter(await place.link(name))
            await visitor.open("/recordings")
            return visitor

        yield opened
    assert [complaint for visitor in visitors for complaint in visitor.complaints] == []


def recorder(page: Page) -> Any:
    return page.get_by_role("region", name="Recording with the microphone")


async def seconds_kept(page: Page) -> float:
    minutes, seconds = (await page.get_by_test_id("kept").inner_text()).split(":")
    return int(minutes) * 60 + int(seconds)


async def recorded(page: Page, seconds: float) -> None:
    async def enough() -> bool:
        return await seconds_kept(page) >= seconds

    await page.get_by_role("button", name="Record", exact=True).click()
    await eventually(enough, within=60)


async def made_of_it(visitor: Visitor) -> dict[str, Any]:
    """The one recording there is, once it is done."""
    found: list[dict[str, Any]] = []

    async def done() -> bool:
        answer = await visitor.context.request.get(f"{visitor.address}/api/recordings")
        found[:] = (await answer.json())["items"]
        return [one["status"] for one in found] == ["COMPLETED"]

    await eventually(done, within=90)
    return found[0]


async def nothing_left(page: Page) -> None:
    count = """() => new Promise((done) => {
      const opening = indexedDB.open("towpath.microphone");
      opening.onsuccess = () => {
        const asked = opening.result.transaction("pieces").objectStore("pieces").count();
        asked.onsuccess = () => { opening.result.close(); done(asked.result); };
      };
    })"""

    async def empty() -> bool:
        return await page.evaluate(count) == 0

    await eventually(empty, within=30)
