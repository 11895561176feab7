"""The real browser: Debian's Chromium, headless, kept from calling home."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Error, async_playwright

from tests.services.missing import lacking
from towpath.server.spa import UI

_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


def _program() -> str:
    program = shutil.which("chromium")
    if program is None:
        lacking("chromium", "apt-get install chromium fonts-dejavu-core")
    if not (UI / "index.html").is_file():
        lacking("the built web UI", "make web")
    return program


def _flags() -> list[str]:
    return [*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    program = _program()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_flags())
        yield browser
        await browser.close()


@asynccontextmanager
async def launched_again(disk: Path, voice: Path, **options: Any) -> AsyncIterator[BrowserContext]:
    """A browser with what it had kept on this disk, and a microphone that hears this file over and over."""
    program = _program()
    hears = (
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={voice}",
    )
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            disk, executable_path=program, args=[*_flags(), *hears], **options
        )
        yield context
        with suppress(Error):  # it may be dead
            await context.close()
