"""Runs steps: one that is done answers from its record, and what does not need each other runs at the same time.

What follows from a failure is not decided here: the engine's matrix of reactions does that for every step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from towpath.documents.money import hold, release
from towpath.documents.pipeline import Function, Step
from towpath.documents.work import Work


class NotReached(Exception):
    """A step whose needs have failed. What they failed of is told, not this."""


class Machine:
    def __init__(self, work: Work) -> None:
        self._work = work

    async def run_step(self, target: str, function: Function) -> Any:
        """Once for each item, whoever dies in between: if the step is on record, its output is answered from there."""
        output = await self._work.ctx.step(target, function, self._work)
        self._work.outputs[target] = output
        return output

    async def run_parallel_steps(self, steps: Sequence[Step]) -> None:
        """Each begins as soon as it has what it needs. All of those that can run to their end, so that what succeeded is on
        record; then the first failure is raised."""
        costly = await hold(self._work, steps)
        ends = {step.name: asyncio.Event() for step in steps}
        await self._work.ctx.parallel(*(self._in_turn(step, ends) for step in steps))
        await release(self._work, costly)

    async def _in_turn(self, step: Step, ends: dict[str, asyncio.Event]) -> None:
        try:
            for need in step.needs:
                if need in ends:
                    await ends[need].wait()
                if need not in self._work.outputs:
                    raise NotReached(f"{step.name} needs {need}")
            await self.run_step(step.name, step.run)
        finally:
            ends[step.name].set()
