"""The real browser: Debian's Chromium, headless, kept from calling home."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright

from towpath.server.spa import UI

_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        _lacking("chromium is not installed")
    if not (UI / "index.html").is_file():
        _lacking("the web UI has not been built; run make web")
    flags = [*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=flags)
        yield browser
        await browser.close()


def _lacking(what: str) -> None:
    """Fine on somebody's own machine; where CI=true nothing may be left out silently."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"browser tests must run where CI=true: {what}", pytrace=False)
    pytest.skip(what)
