"""Stopping a task, giving it a fresh start, and deleting it."""

from __future__ import annotations

from typing import Any

from towpath import App, Context, NotRequeueable, RetryLater, TowpathError, Transaction
from towpath.fleet.names import CARE_QUEUE, FLEET, KIND, REMOVE
from towpath.fleet.records import Task

_LATER = 5.0


class NotNow(TowpathError):
    """What was asked for does not fit what is being done with the task; the message says why."""


async def cancel(app: App, task: Task, by: str) -> list[str]:
    """Stops it wherever it is; answers the jobs that were stopped. Its worker hears of it with its next heartbeat."""
    return (await app.subjects.cancel(KIND, task.id, f"cancelled by {by}")).reached


async def retry(app: App, task: Task) -> str:
    """A fresh start for a task that has failed or was cancelled; answers its job."""
    try:
        return (await app.subjects.requeue(KIND, task.id)).id
    except NotRequeueable as error:
        raise NotNow(str(error)) from None


async def remove(app: App, task: Task) -> int:
    """With its jobs and what they have stored here. Objects in buckets stay."""

    async def unit(tx: Transaction) -> tuple[int, str]:
        marked = await tx.change("fleet_task_remove", id=task.id, now=tx.now)
        await tx.tell(KIND, task.id, tenant=task.tenant)
        later = await tx.enqueue(REMOVE, {"task": task.id}, tenant=task.tenant, delay=_LATER, queue=CARE_QUEUE, subject=None)
        return marked, later

    marked, later = await app.transact(unit)
    if await _finish(app, task.id):
        await app.remove([later])  # nothing is left for it to do
    return marked


async def remove_later(app: App, ctx: Context, payload: dict[str, Any]) -> None:
    """What `remove` began."""
    if not await _finish(app, payload["task"]):
        raise RetryLater("a job of it has a handler that has not ended yet", _LATER)


async def _finish(app: App, task_id: str) -> bool:
    removed = await app.subjects.delete(KIND, task_id)
    if not all(why == "not found" for why in removed.refused.values()):
        return False
    await app.blobs.delete_prefix(f"{FLEET}/{task_id}")

    async def unit(tx: Transaction) -> None:
        for query in ("fleet_notes_delete", "fleet_dispatches_delete", "fleet_task_delete"):
            await tx.change(query, id=task_id)

    await app.transact(unit)
    return True
