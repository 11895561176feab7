"""Whether the server is about to stop. Servers wait for open answers before they tell the application, and a stream never
ends by itself: so it is asked for, rather than waited for."""

from __future__ import annotations

import signal


def server_is_stopping() -> bool:
    """uvicorn handles the signals with a method of its server, which remembers that it should exit."""
    for number in (signal.SIGTERM, signal.SIGINT):
        server = getattr(signal.getsignal(number), "__self__", None)
        if getattr(server, "should_exit", False) is True:
            return True
    return False
