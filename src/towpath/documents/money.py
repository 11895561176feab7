"""Steps that cost: what each may cost is held back before it is run, and whoever has no money left waits for some.

A job cannot wait inside a step, so it is asked for before. What a call has really cost is said by whoever makes it; what was
held for a call that nobody had to make is free again afterwards. Of a call that failed nobody knows whether it was paid:
its money stays held until the item is tried again, or deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from towpath.documents.pipeline import Step
from towpath.documents.work import Work


async def hold(work: Work, steps: Sequence[Step]) -> list[Step]:
    """Answers those that cost. May suspend the job."""
    costly = []
    for step in steps:
        cents = await step.costs(work)
        if cents is not None:
            await work.ctx.spend(cents, key=step.name, limit=work.options.budget_cents)
            costly.append(step)
    return costly


async def release(work: Work, steps: Sequence[Step]) -> None:
    """They are done: what is still held for them was not needed."""
    for step in steps:
        await work.ctx.spent(0.0, key=step.name)
