"""Processes that stay wait for a database that is not there yet, as after a restart of the machine; commands do not."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import typer

from towpath.core.errors import StoreUnavailable
from towpath.engine.app import App

_TRY_AGAIN = 0.5
_SAY_AGAIN = 60.0


@asynccontextmanager
async def opened_patiently(app: App, say: Callable[[str], object]) -> AsyncIterator[None]:
    """The open app, as soon as PostgreSQL answers. What waiting cannot mend is told at once: a password, a database."""
    if not app.url.startswith("postgres"):
        await app.open()
    elif not await _opened_before_a_signal(app, say):
        raise typer.Exit(0)
    try:
        yield
    finally:
        await app.close()


async def _opened_before_a_signal(app: App, say: Callable[[str], object]) -> bool:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    with suppress(NotImplementedError, RuntimeError):  # not on every system, and not outside of the main thread
        loop.add_signal_handler(signal.SIGTERM, stopped.set)
    opening = loop.create_task(_open(app, say))
    stopping = loop.create_task(stopped.wait())
    try:
        await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            await opening
        if not stopped.is_set():
            return True
        opening.cancel()
        await asyncio.wait({opening})
        await app.close()  # the signal may have come in the very moment in which it was opened
        return False
    finally:
        with suppress(NotImplementedError, RuntimeError):
            loop.remove_signal_handler(signal.SIGTERM)
        opening.cancel()
        stopping.cancel()
        await asyncio.wait({opening, stopping})


async def _open(app: App, say: Callable[[str], object]) -> None:
    began, said = time.monotonic(), float("-inf")
    while True:
        try:
            await app.open()
        except StoreUnavailable as error:
            now = time.monotonic()
            if now - said >= _SAY_AGAIN:
                said = now
                say(f"{error}; waiting for it")
            await asyncio.sleep(_TRY_AGAIN)
        else:
            if said > float("-inf"):
                say(f"PostgreSQL is there, after {time.monotonic() - began:.0f} s")
            return
