"""A recording's status is told from its jobs, by one table."""

import pytest

from towpath import Job, State
from towpath.recordings.status import STATUSES, TABLE, job_status, standing


def job(operation: str, state: str, *, number: int = 1, **fields: object) -> Job:
    return Job(id=f"00000000-0000-7000-8000-{number:012}", queue="q", operation=operation, state=State(state), **fields)


@pytest.mark.parametrize(
    ("state", "called", "transcribing", "summarizing"),
    [
        ("queued", "queued", "PENDING", "SUMMARIZING"),
        ("running", "processing", "PROCESSING", "SUMMARIZING"),
        ("waiting", "processing", "PROCESSING", "SUMMARIZING"),
        ("succeeded", "completed", "COMPLETED", "COMPLETED"),
        ("partial", "completed", "COMPLETED", "COMPLETED"),
        ("failed", "failed", "FAILED", "FAILED"),
        ("cancelled", "cancelled", "CANCELLED", "COMPLETED"),
    ],
)
def test_every_state_of_a_job_has_its_words(state, called, transcribing, summarizing):
    assert job_status(job("transcribe", state)) == called
    assert standing([job("transcribe", state)], has_transcript=False).status == transcribing
    for kind in ("summarize", "reprocess_summary"):
        jobs = [job("transcribe", "succeeded"), job(kind, state, number=2)]
        assert standing(jobs, has_transcript=True).status == summarizing


def test_the_table_knows_every_state_and_only_documented_statuses():
    assert TABLE.keys() == set(State)
    assert {status for row in TABLE.values() for status in row[1:]} <= set(STATUSES)


def test_what_is_under_way_speaks_before_what_has_ended():
    jobs = [
        job("transcribe", "succeeded"),
        job("reprocess_transcription", "running", number=2),
        job("summarize", "failed", number=3),
    ]
    told = standing(jobs, has_transcript=True)
    assert (told.status, told.job.operation) == ("PROCESSING", "reprocess_transcription")


def test_a_transcription_that_runs_speaks_before_a_summary_that_waits():
    jobs = [job("transcribe", "running"), job("summarize", "queued", number=2)]
    assert standing(jobs, has_transcript=True).status == "PROCESSING"


def test_the_newest_job_speaks_when_nothing_is_under_way():
    jobs = [
        job("reprocess_summary", "succeeded", number=3),
        job("transcribe", "succeeded"),
        job("summarize", "failed", number=2),
    ]
    assert standing(jobs, has_transcript=True).status == "COMPLETED"


def test_a_reprocessing_that_fails_is_told_although_the_old_transcript_stays():
    jobs = [job("transcribe", "succeeded"), job("reprocess_transcription", "failed", number=2)]
    assert standing(jobs, has_transcript=True).status == "FAILED"


def test_a_reprocessing_that_was_called_off_leaves_a_completed_recording():
    jobs = [job("transcribe", "succeeded"), job("reprocess_transcription", "cancelled", number=2)]
    assert standing(jobs, has_transcript=True).status == "COMPLETED"


def test_without_jobs_the_transcript_decides():
    assert standing([], has_transcript=True).status == "COMPLETED"
    assert standing([], has_transcript=False).status == "FAILED"


def test_a_job_back_from_its_children_is_still_processed():
    back = job("transcribe", "queued", children_total=4, ready=True, attempt=1)
    assert (job_status(back), standing([back], has_transcript=False).status) == ("processing", "PROCESSING")


def test_a_retried_job_behind_the_cap_waits_although_it_has_children():
    parked = job("transcribe", "queued", children_total=4, parked=True, attempt=3)
    assert standing([parked], has_transcript=False).status == "PENDING"


@pytest.mark.parametrize(
    ("state", "first", "anew"),
    [
        ("queued", False, False),
        ("running", False, False),
        ("waiting", False, False),
        ("succeeded", False, False),
        ("partial", False, False),
        ("failed", True, True),
        ("cancelled", True, False),
    ],
)
def test_only_what_came_to_nothing_needs_a_retry(state, first, anew):
    assert standing([job("transcribe", state)], has_transcript=False).needs_retry is first
    jobs = [job("transcribe", "succeeded"), job("reprocess_transcription", state, number=2)]
    assert standing(jobs, has_transcript=True).needs_retry is anew


def test_a_recording_that_has_neither_jobs_nor_a_transcript_needs_a_retry():
    assert standing([], has_transcript=False).needs_retry
    assert not standing([], has_transcript=True).needs_retry
