"""What a job that ends leaves behind: orders at providers, which are stopped there by a job of their own, money that was
held back for work that was never ordered, and its last words (`last_words.py`). All in the transaction that ends it.

So nobody has to remember it: not who cancels, deletes or times out a job, and not whose process dies just then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath.core.encoding import decode, encode
from towpath.core.ids import uuid7
from towpath.core.lifecycle import State
from towpath.core.provider_jobs import CANCEL_EXTERNAL, OPEN
from towpath.core.records import Job, NewJob
from towpath.store.contract import Tx

_OPEN = sorted(OPEN)
_IN_VAIN = (State.FAILED, State.CANCELLED)


async def cancelling(tx: Tx, changes: Sequence[tuple[Job, Job, list[str]]]) -> list[NewJob]:
    """Jobs that stop what these endings have left behind; none for jobs that never ordered anything."""
    ended = {job.id: job for before, job, _ in changes if before.live and job.ended and job.steps}
    if not ended:
        return []
    found: dict[str, list[str]] = {}
    for row in await tx.fetch("provider_jobs_left_behind", job_ids=sorted(ended), states=_OPEN):
        found.setdefault(str(row["job_id"]), []).append(str(row["id"]))
    return [_cancel(ended[job_id], ids) for job_id, ids in found.items()]


async def release_money(tx: Tx, changes: Sequence[tuple[Job, Job, list[str]]]) -> None:
    ended = [job.id for before, job, _ in changes if before.live and job.state in _IN_VAIN and job.steps]
    if ended:
        from towpath.store.spending import release_idle

        await release_idle(tx, ended)


async def last_words(tx: Tx, changes: Sequence[tuple[Job, Job, list[str]]]) -> list[NewJob]:
    """Of those that have failed or were cancelled, whoever did that."""
    ended = [job.id for before, job, _ in changes if before.live and job.state in _IN_VAIN and job.steps]
    if not ended:
        return []
    return [_spoken(decode(row["output"])) for row in await tx.fetch("last_words", job_ids=sorted(ended))]


def _spoken(said: dict[str, Any]) -> NewJob:
    return NewJob(
        uuid7(), said["operation"], said["queue"], encode(said["payload"]), said["tenant"], said["lane"],
        max_attempts=said["max_attempts"],
    )  # fmt: skip


def _cancel(job: Job, ids: list[str]) -> NewJob:
    """In the queue of the job itself: whoever could order there can cancel. It has no subject: it is not what the thing that
    was worked on is about any more."""
    return NewJob(uuid7(), CANCEL_EXTERNAL, job.queue, encode({"provider_jobs": ids}), job.tenant, job.lane, 0)
