"""A job in a slot of a worker, and the claim it came with."""

from __future__ import annotations

import asyncio

from towpath.engine.context import Context
from towpath.store.contract import Claimed


class Grip:
    """What is left of one claim."""

    __slots__ = ("jobs", "lease_id", "plain")

    def __init__(self, lease_id: str, jobs: int) -> None:
        self.lease_id, self.jobs = lease_id, jobs
        self.plain = True  # nothing but successes so far, which leave nothing leased


class Entry:
    """A job in a slot."""

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
