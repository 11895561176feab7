"""What is left to do when the job of a task was cancelled or has failed: its worker is told to stop, and what it has stored
is removed."""

from __future__ import annotations

import json
import logging
from typing import Any

from towpath import App, Context, RetryLater, Transaction, Transient
from towpath.fleet import stored, verdicts
from towpath.fleet.names import HERE, KIND, WORKER, control_key, output_key
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.storage import storage_of

log = logging.getLogger("towpath.fleet")
_LATER = 10.0


async def after(app: App, ctx: Context, payload: dict[str, Any]) -> None:
    """The last word of a task's job; see `tx.leave_word`."""
    found = await stored.tasks(app, [payload["task"]])
    if not found:
        return
    [task] = found
    if any(job.live for job in (await app.subjects.jobs(KIND, [task.id]))[task.id]):
        return  # somebody has tried it again meanwhile
    attempts = await stored.attempts(app, task.id)

    async def unit(tx: Transaction) -> None:
        await tx.change("fleet_dispatches_end", task_id=task.id, outcome=verdicts.CANCELLED, now=tx.now)
        await tx.tell(KIND, task.id)
        await tx.tell(WORKER, *{one.worker_id for one in attempts if one.open and one.worker_id})

    await ctx.transact(unit)
    try:
        for one in attempts:
            await _clear(app, task, one)
    except Transient as error:
        raise RetryLater(f"what its workers have stored could not be removed: {error}", _LATER) from None


async def _clear(app: App, task: Task, dispatch: Dispatch) -> None:
    target = storage_of(app, task.target)
    if dispatch.open and HERE not in (dispatch.route, task.target):
        await target.put(control_key(task.target, task.id, dispatch.attempt), json.dumps({"cancelled": True}).encode())
    await target.delete(output_key(task.target, task.id, dispatch.attempt))
