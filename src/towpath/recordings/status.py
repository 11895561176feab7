"""A recording's status, told from its jobs: one table, and nothing is stored that could say otherwise.

What is under way speaks first; when nothing is, the newest job speaks, also if it is gone: how it had ended was written down
when it was removed. `waiting` is a job whose children run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from towpath import Job, State
from towpath.recordings.names import SUMMARIZING as SUMMARY_JOBS
from towpath.recordings.names import TRANSCRIBING as TRANSCRIPTION_JOBS
from towpath.recordings.records import Ended

PENDING, PROCESSING, SUMMARIZING = "PENDING", "PROCESSING", "SUMMARIZING"
COMPLETED, FAILED, CANCELLED = "COMPLETED", "FAILED", "CANCELLED"
STATUSES = (PENDING, PROCESSING, SUMMARIZING, COMPLETED, FAILED, CANCELLED)

# The state of a job -> what it is called beside its recording, and what a recording is while a job of either kind is so.
#                       job           transcription  summary
TABLE: dict[State, tuple[str, str, str]] = {
    State.QUEUED:    ("queued",     PENDING,       SUMMARIZING),
    State.RUNNING:   ("processing", PROCESSING,    SUMMARIZING),
    State.WAITING:   ("processing", PROCESSING,    SUMMARIZING),
    State.SUCCEEDED: ("completed",  COMPLETED,     COMPLETED),
    State.PARTIAL:   ("completed",  COMPLETED,     COMPLETED),
    State.FAILED:    ("failed",     FAILED,        FAILED),
    State.CANCELLED: ("cancelled",  CANCELLED,     COMPLETED),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """A recording's status, and the job that says so, or what is known of it if it is gone."""

    status: str
    job: Job | None
    ended: Ended | None = None

    @property
    def needs_retry(self) -> bool:
        """Whether nothing comes of it by itself any more. What is done, although a reprocessing of it was called off, needs
        none."""
        return self.status in (FAILED, CANCELLED)


def state_of(job: Job) -> State:
    """A job whose children have run is in the middle of things, although for an instant it is back in the queue."""
    if job.state is State.QUEUED and job.children_total > 0 and job.ready:
        return State.WAITING
    return job.state


def job_status(job: Job) -> str:
    return TABLE[state_of(job)][0]


def standing(jobs: Iterable[Job], *, has_transcript: bool, ended: Ended | None = None) -> Standing:
    """Of a recording with these jobs. `ended` is the newest of those that it has no more."""
    known = sorted((job for job in jobs if job.operation in TRANSCRIPTION_JOBS | SUMMARY_JOBS), key=lambda job: job.id)
    live = [job for job in known if job.live]
    speaker = _first(live, TRANSCRIPTION_JOBS) or _first(live, SUMMARY_JOBS) or (known[-1] if known else None)
    if ended is not None and (speaker is None or (not speaker.live and speaker.id < ended.job_id)):
        return Standing(_status(ended.operation, ended.state, has_transcript), None, ended)
    if speaker is None:
        # Nobody knows what became of its jobs. Without a transcript nothing will come of it by itself.
        return Standing(COMPLETED if has_transcript else FAILED, None)
    return Standing(_status(speaker.operation, state_of(speaker), has_transcript), speaker)


def _status(operation: str, state: State, has_transcript: bool) -> str:
    _, transcription, summary = TABLE[state]
    status = transcription if operation in TRANSCRIPTION_JOBS else summary
    if status == CANCELLED and has_transcript:
        return COMPLETED  # a reprocessing was called off: the old transcript stands
    return status


def _first(jobs: list[Job], kinds: frozenset[str]) -> Job | None:
    return next((job for job in jobs if job.operation in kinds), None)
