"""Ordinary `logging` inside an operation appears among the events of its job."""

from __future__ import annotations

import asyncio
import logging

from towpath.core.encoding import plain
from towpath.engine.place import current_context

_LEVELS = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warning"}
_MOST_PER_ENTRY = 1000


class JobLogHandler(logging.Handler):
    """Writes records made inside a job as `log` events of that job; everything else is none of its business."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.INFO)
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        ctx = current_context.get()
        if ctx is None or record.name.startswith("towpath"):
            return
        ctx.logged += 1
        if ctx.logged > _MOST_PER_ENTRY:
            return
        try:
            message = plain(record.getMessage())
            if ctx.logged == _MOST_PER_ENTRY:
                message = f"{message} (the log of this entry goes on in the worker's own log only)"
            level = _LEVELS.get(record.levelno, "error" if record.levelno > logging.WARNING else "info")
            self._loop.call_soon_threadsafe(_jot, ctx, message, level, record.name)
        except Exception:  # a log line must never break the operation that wrote it
            self.handleError(record)


def _jot(ctx: object, message: str, level: str, logger: str) -> None:
    ctx.jot(name="log", message=message, level=level, fields={"logger": logger})  # type: ignore[attr-defined]
