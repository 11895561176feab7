"""A batch's status, told from its jobs: one table, and nothing is stored that could say otherwise.

`waiting` is a job whose orders are at a provider, or whose children run. One that runs is submitting, unless something of it
is under way already: then it is fetching and merging.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from towpath import Job, ProviderJob, State
from towpath.batches.names import COMPLETION, OPERATION_OF, TRANSCRIPTION
from towpath.batches.records import Ended

PENDING, IN_PROGRESS, COMPLETED = "PENDING", "IN_PROGRESS", "COMPLETED"
PARTIAL_COMPLETE, FAILED, CANCELLED = "PARTIAL_COMPLETE", "FAILED", "CANCELLED"
STATUSES = (PENDING, IN_PROGRESS, COMPLETED, PARTIAL_COMPLETE, FAILED, CANCELLED)

# The state of its job -> the batch, before anything of it is under way and after.
TABLE: dict[State, tuple[str, str]] = {
    State.QUEUED:    (PENDING,          IN_PROGRESS),
    State.RUNNING:   (PENDING,          IN_PROGRESS),
    State.WAITING:   (IN_PROGRESS,      IN_PROGRESS),
    State.SUCCEEDED: (COMPLETED,        COMPLETED),
    State.PARTIAL:   (PARTIAL_COMPLETE, PARTIAL_COMPLETE),
    State.FAILED:    (FAILED,           FAILED),
    State.CANCELLED: (CANCELLED,        CANCELLED),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """A batch's status, and the job that says so, or what is known of it if it is gone."""

    status: str
    job: Job | None
    ended: Ended | None = None


def standing(jobs: Iterable[Job], ordered: Sequence[ProviderJob], ended: Ended | None = None) -> Standing:
    known = sorted((job for job in jobs if job.operation in OPERATION_OF.values()), key=lambda job: job.id)
    speaker = known[0] if known else None  # whatever was made later does nothing, see ordering.py
    if ended is not None and (speaker is None or ended.job_id < speaker.id):
        return Standing(TABLE[ended.state][0], None, ended)
    if speaker is None:
        return Standing(FAILED, None)  # nobody knows what became of its jobs, and nothing will come of it by itself
    return Standing(PENDING if is_gathering(speaker) else TABLE[speaker.state][_under_way(speaker, ordered)], speaker)


def is_gathering(job: Job) -> bool:
    """Whether it waits for more requests; the only signal that such a job waits for says that there are enough."""
    return job.state is State.WAITING and job.reason == "signal"


def _under_way(job: Job, ordered: Sequence[ProviderJob]) -> bool:
    return job.children_total > 0 or any(row.job_id == job.id and row.external_id is not None for row in ordered)


@dataclass(frozen=True, slots=True)
class Words:
    """How a kind of batch speaks of what it was given."""

    things: str
    asked: str
    answered: str


_WORDS = {
    COMPLETION: Words("requests", "asked", "answered"),
    TRANSCRIPTION: Words("inputs", "heard", "transcribed"),
}


def words_of(task_type: str) -> Words:
    return _WORDS[task_type]


def warning_of(failed: int | None, invalid: int | None, task_type: str = COMPLETION) -> str | None:
    """What is missing, in words."""
    words = words_of(task_type)
    if failed:
        return f"{failed:,} of its {words.things} {'was' if failed == 1 else 'were'} not {words.answered}"
    return f"{invalid:,} of its {words.things} could not be {words.asked}" if invalid else None


def of_model(ok: int, failed: int) -> str:
    """What has become of one model's requests."""
    return COMPLETED if not failed else PARTIAL_COMPLETE if ok else FAILED


def of_completion(models: Sequence[str]) -> str:
    """All models completed: so is the batch. At least one completed in whole or in part: in part. None: it has failed."""
    if not models or all(one == FAILED for one in models):
        return FAILED
    return COMPLETED if all(one == COMPLETED for one in models) else PARTIAL_COMPLETE
