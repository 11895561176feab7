"""A job in a slot of a worker."""

from __future__ import annotations

import asyncio
import time

from towpath.engine.running.context import Context
from towpath.store.contract import Claimed


class RunningJob:
    __slots__ = ("began", "ctx", "deadline", "entered", "job", "task")

    def __init__(self, job: Claimed, ctx: Context, timeout: float) -> None:
        self.job, self.ctx = job, ctx
        self.began = time.monotonic()
        self.deadline = self.began + timeout
        self.task: asyncio.Task[None] | None = None
        self.entered = False

    def interrupt(self, why: str) -> None:
        if self.ctx.interrupted is None:
            self.ctx.interrupted = why
            if why != "shutdown":
                self.ctx.lost = why in ("cancelled", "lost")
            if self.task is not None and self.entered:  # a task cancelled before its first step would never settle
                self.task.cancel()
