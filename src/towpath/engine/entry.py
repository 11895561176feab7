"""A job in a slot of a worker."""

from __future__ import annotations

import asyncio

from towpath.engine.context import Context
from towpath.engine.grips import Grip
from towpath.store.contract import Claimed


class Entry:
    """With the claim it came with."""

    __slots__ = ("ctx", "deadline", "entered", "grip", "job", "task")

    def __init__(self, job: Claimed, ctx: Context, deadline: float, grip: Grip) -> None:
        self.job, self.ctx, self.deadline, self.grip = job, ctx, deadline, grip
        self.task: asyncio.Task[None] | None = None
        self.entered = False

    def interrupt(self, why: str) -> None:
        if self.ctx.interrupted is None:
            self.ctx.interrupted = why
            if why != "shutdown":
                self.ctx.lost = why in ("cancelled", "lost")
            if self.task is not None and self.entered:  # a task cancelled before its first step would never settle
                self.task.cancel()
