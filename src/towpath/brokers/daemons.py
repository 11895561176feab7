"""Calls that block, in threads that nobody has to wait for: a long poll holds neither the event loop's pool nor the exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_daemon(call: Callable[[], T], unheard: Callable[[T], None] | None = None) -> T:
    """What the call answers. If whoever waits is cancelled meanwhile, the call goes on and its answer goes to `unheard`."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if answered.cancelled():
            if error is None and unheard:
                threading.Thread(target=unheard, args=(value,), daemon=True).start()
        elif error is not None:
            answered.set_exception(error)
        else:
            answered.set_result(value)

    def run() -> None:
        value, failed = None, None
        try:
            value = call()
        except BaseException as error:  # it belongs to whoever waits, whatever it is
            failed = error
        try:
            loop.call_soon_threadsafe(settle, value, failed)
        except RuntimeError:  # the loop is closed: nobody waits any more
            if failed is None and unheard:
                unheard(value)  # type: ignore[arg-type]  # it is what the call answered

    threading.Thread(target=run, name="towpath-broker", daemon=True).start()
    return await answered  # type: ignore[no-any-return]
