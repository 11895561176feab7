"""People at their browsers. Whatever a page complains about fails the test, unless the test says that it belongs to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.engine.working import eventually

_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`content security policy: ${event.violatedDirective} refused ${event.blockedURI} at ${event.sourceFile}`));
"""


class Visitor:
    """A browser of its own, as far as cookies and storage go, with one page open."""

    def __init__(self, context: BrowserContext, page: Page, address: str) -> None:
        self.context, self.page, self.address = context, page, address
        self._complaints: list[str] = []
        self._expected: list[str] = []
        self._unanswered: set[Request] = set()
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._complaints.append(f"uncaught: {error}"))
        page.on("dialog", self._on_dialog)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_answer)
        page.on("requestfailed", self._on_answer)

    async def open(self, path: str) -> Page:
        await self.page.goto(self.address + path)
        return self.page

    async def enter(self, link: str) -> None:
        """Logs in by a link without looking at the page."""
        token = link.partition("token=")[2]
        answer = await self.context.request.post(
            f"{self.address}/api/session/link", data={"token": token}, headers={"Origin": self.address}
        )
        assert answer.ok, await answer.text()

    async def settled(self) -> None:
        """Once every question of the page is answered, but for the stream, which never is, and the answers are painted."""
        await eventually(lambda: not self._unanswered)
        await self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def expects(self, *parts: str) -> None:
        """What the console may say in this test, such as the status of a request that is to be refused."""
        self._expected += parts

    @property
    def complaints(self) -> list[str]:
        return [text for text in self._complaints if not any(part in text for part in self._expected)]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complaints.append(f"{message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.address}/api/events"):
            self._unanswered.add(request)

    def _on_answer(self, request: Request) -> None:
        self._unanswered.discard(request)

    async def _on_dialog(self, dialog: Any) -> None:
        self._complaints.append(f"a dialog opened: {dialog.message}")
        await dialog.dismiss()


@asynccontextmanager
async def visiting(browser: Browser, address: str, **options: Any) -> AsyncIterator[Visitor]:
    """Options are those of a browser context: viewport, color_scheme."""
    context = await browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options)
    try:
        yield await watched(context, await context.new_page(), address)
    finally:
        await context.close()


async def watched(context: BrowserContext, page: Page, address: str) -> Visitor:
    context.set_default_timeout(30_000)
    await context.add_init_script(_REPORT_VIOLATIONS)
    return Visitor(context, page, address)
