"""Whether a job that is claimed has been begun, as its row and its worker's tell.

A worker claims short jobs ahead, for slots that will be free when the answer is there. To write down when each of them is
begun would cost as much as the claim; but a worker begins in the order of its claims and never more than it has slots. So
whatever comes after that many jobs that it still holds waits for a slot, or has got one within the last turn.
"""

from __future__ import annotations

from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.asking.liveness import live_workers
from towpath.store.contract import Row, Tx


async def waits_for_a_slot(tx: Tx, job: Job) -> bool:
    slots = next((row["concurrency"] for row in await live_workers(tx) if str(row["id"]) == job.worker_id), None)
    if slots is None:
        return False
    held = await tx.fetch("leased_by", worker_id=job.worker_id)
    running = sorted((row for row in held if row["state"] == State.RUNNING), key=_order)
    return job.id not in {str(row["id"]) for row in running[:slots]}


def _order(row: Row) -> tuple[object, ...]:
    return (row["started_at"], row["priority"], row["pass"], str(row["id"]))
