"""What blocks runs beside the event loop, also when the process is about to end.

From the end of the main thread on, the interpreter starts no more threads and its pools take no more work. What is closed
that late blocks its own loop instead, where nobody waits for anything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def beside(function: Callable[[], T]) -> T:
    """The function's answer, from another thread as long as there can be one. For what ends things."""
    try:
        running = asyncio.get_running_loop().run_in_executor(None, function)
    except RuntimeError:
        return function()
    return await running
