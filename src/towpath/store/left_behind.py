"""What a job that ends leaves at providers: it is stopped there by a job of its own, made in the same transaction.

So nobody has to remember it: not who cancels, deletes or times out a job, and not whose process dies just then.
"""

from __future__ import annotations

from collections.abc import Sequence

from towpath.core.encoding import encode
from towpath.core.ids import uuid7
from towpath.core.provider_jobs import CANCEL_EXTERNAL, OPEN
from towpath.core.records import Job, NewJob
from towpath.store.contract import Tx

_OPEN = sorted(OPEN)


async def cancelling(tx: Tx, changes: Sequence[tuple[Job, Job, list[str]]]) -> list[NewJob]:
    """Jobs that stop what these endings have left behind; none for jobs that never ordered anything."""
    ended = {job.id: job for before, job, _ in changes if before.live and job.ended and job.steps}
    if not ended:
        return []
    found: dict[str, list[str]] = {}
    for row in await tx.fetch("provider_jobs_left_behind", job_ids=sorted(ended), states=_OPEN):
        found.setdefault(str(row["job_id"]), []).append(str(row["id"]))
    return [_cancel(ended[job_id], ids) for job_id, ids in found.items()]


def _cancel(job: Job, ids: list[str]) -> NewJob:
    """In the queue of the job itself: whoever could order there can cancel. It has no subject: it is not what the thing that
    was worked on is about any more."""
    return NewJob(uuid7(), CANCEL_EXTERNAL, job.queue, encode({"provider_jobs": ids}), job.tenant, job.lane, 0)
