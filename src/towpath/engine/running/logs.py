"""Ordinary `logging` inside an operation appears among the events of its job."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from towpath.core.encoding import plain
from towpath.engine.running.current import current_context

if TYPE_CHECKING:
    from towpath.engine.running.context import Context

_LEVELS = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warning"}
_MOST_PER_ENTRY = 1000


class JobLogHandler(logging.Handler):
    """Writes records made inside a job as `log` events of that job; everything else is none of its business."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        ctx = current_context.get()
        if ctx is None or f"{record.name}.".startswith("towpath.") or hasattr(record, "towpath_job"):
            return
        record.towpath_job = ctx.id  # each worker of a process has a handler: the first one takes it
        if ctx.logged >= _MOST_PER_ENTRY:
            return
        try:
            loop = ctx.services.group_commit.loop
            if _running(loop):  # at once: what the job says comes before its end, and that may be the next thing it does
                _jot(ctx, *line_of(record))
            else:
                loop.call_soon_threadsafe(_jot, ctx, *line_of(record))
        except Exception:  # a log line must never break the operation that wrote it
            self.handleError(record)


def _running(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether this is the loop's own thread."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def line_of(record: logging.LogRecord) -> tuple[str, str, str]:
    """Message, level and logger, as an event has them."""
    level = _LEVELS.get(record.levelno, "error" if record.levelno > logging.WARNING else "info")
    return plain(record.getMessage()), level, record.name


async def jot_line(ctx: Context, message: str, level: str, logger: str) -> None:
    """For lines that come from another process."""
    _jot(ctx, message, level, logger)


def _jot(ctx: Context, message: str, level: str, logger: str) -> None:
    ctx.logged += 1
    if ctx.logged > _MOST_PER_ENTRY:
        return
    if ctx.logged == _MOST_PER_ENTRY:
        message = f"{message} (the log of this entry goes on in the worker's own log only)"
    ctx.jot(name="log", message=message, level=level, fields={"logger": logger})
