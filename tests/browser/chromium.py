"""The real browser: Debian's Chromium, headless, kept from calling home."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from tests.services.missing import lacking
from towpath.server.spa import UI

_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        lacking("chromium", "apt-get install chromium fonts-dejavu-core")
    if not (UI / "index.html").is_file():
        lacking("the built web UI", "make web")
    flags = [*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=flags)
        yield browser
        await browser.close()
