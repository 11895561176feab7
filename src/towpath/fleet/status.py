"""A task's status, told from its job and from the last time it was sent: one table, and nothing is stored that could say
otherwise.

A job waits while somebody else works on it. Whether that is a message in a queue or a worker that was heard of, the
attempt knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from towpath import Job, State
from towpath.fleet.names import RUN
from towpath.fleet.records import Dispatch, Ended

PENDING, QUEUED, IN_PROGRESS = "PENDING", "QUEUED", "IN-PROGRESS"
COMPLETED, FAILED, CANCELLED = "COMPLETED", "FAILED", "CANCELLED"
STATUSES = (PENDING, QUEUED, IN_PROGRESS, COMPLETED, FAILED, CANCELLED)

# The state of its job -> the task: nothing of it was sent, it was sent, and somebody has taken it up.
TABLE: dict[State, tuple[str, str, str]] = {
    State.QUEUED:    (PENDING,   QUEUED,    IN_PROGRESS),
    State.RUNNING:   (PENDING,   QUEUED,    IN_PROGRESS),
    State.WAITING:   (QUEUED,    QUEUED,    IN_PROGRESS),
    State.SUCCEEDED: (COMPLETED, COMPLETED, COMPLETED),
    State.PARTIAL:   (COMPLETED, COMPLETED, COMPLETED),
    State.FAILED:    (FAILED,    FAILED,    FAILED),
    State.CANCELLED: (CANCELLED, CANCELLED, CANCELLED),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """A task's status, and the job that says so, or what is known of it if it is gone. One that has FAILED and has a
    `retry_at` is tried again then."""

    status: str
    job: Job | None
    ended: Ended | None = None
    retry_at: datetime | None = None


def standing(jobs: Sequence[Job], last: Dispatch | None, ended: Ended | None, now: datetime) -> Standing:
    known = [job for job in jobs if job.operation == RUN]
    job = known[-1] if known else None
    if ended is not None and (job is None or ended.job_id > job.id):
        return Standing(TABLE[ended.state][0], None, ended)
    if job is None:
        return Standing(FAILED, None)  # nobody knows what became of its job, and nothing will come of it by itself
    status = TABLE[job.state][_how_far(last)]
    if status == PENDING and (retry_at := _retry_at(job, now)):
        return Standing(FAILED, job, retry_at=retry_at)
    return Standing(status, job)


def _how_far(last: Dispatch | None) -> int:
    if last is None or not last.open:
        return 0
    return 2 if last.acknowledged else 1


def _retry_at(job: Job, now: datetime) -> datetime | None:
    """When a job that has failed before is tried again, if that is still to come."""
    waits = job.state is State.QUEUED and job.failures > 0 and job.run_at is not None and job.run_at > now
    return job.run_at if waits else None


def states_of(statuses: Sequence[str]) -> list[str]:
    """The states of jobs whose tasks may have one of these statuses."""
    return [state.value for state, told in TABLE.items() if set(told) & set(statuses)]
