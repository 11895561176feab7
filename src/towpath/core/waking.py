"""How a job that waits is woken."""

from __future__ import annotations

from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.core.working_set import WorkingSet


def wake(working: WorkingSet, job: Job, reason: str) -> None:
    """Whatever can wake a job counts here, so that a defer that comes later sees that something has happened."""
    job.wakes += 1
    if job.state is State.WAITING and not job.closing:
        resume(working, job, reason)


def resume(working: WorkingSet, job: Job, reason: str) -> None:
    working.tell_counts(job)
    working.unlease(job)
    working.admit(job, fresh=False)
    working.note(job, "job.resumed", fields={"reason": reason})
