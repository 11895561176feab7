"""Names of operations and queues, as they are stored and as the API and the UI show them."""

from __future__ import annotations

from towpath import Job

KIND = "recording"
"""What the jobs work on, see `subject=`; and the message that tells of it."""

TRANSCRIBE = "transcribe"
REPROCESS_TRANSCRIPTION = "reprocess_transcription"
SUMMARIZE = "summarize"
REPROCESS_SUMMARY = "reprocess_summary"
WINDOWS = "transcribe.windows"
REMOVE = "recordings.remove"
TIDY = "recordings.tidy"
INDEX = "recordings.index"

TRANSCRIPTION_QUEUE = "transcription"
SUMMARY_QUEUE = "summary"
CARE_QUEUE = "recordings"

WITH_SPEAKERS = " +speakers"
"""After an engine's name where its speed is kept."""

TRANSCRIBING = frozenset({TRANSCRIBE, REPROCESS_TRANSCRIPTION})
SUMMARIZING = frozenset({SUMMARIZE, REPROCESS_SUMMARY})

QUEUE_OF = {
    TRANSCRIBE: TRANSCRIPTION_QUEUE,
    REPROCESS_TRANSCRIPTION: TRANSCRIPTION_QUEUE,
    SUMMARIZE: SUMMARY_QUEUE,
    REPROCESS_SUMMARY: SUMMARY_QUEUE,
}


def is_new_upload(job: Job) -> bool:
    """Whether it is the first transcription, without which there would be nothing of the recording but its audio."""
    return job.operation == TRANSCRIBE
