"""Recordings and their jobs as people see them: status, place in line, estimate, error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from towpath import App, Job, Prospect, State
from towpath.recordings import stored
from towpath.recordings.names import KIND, QUEUE_OF, is_new_upload
from towpath.recordings.records import Ended, Recording
from towpath.recordings.status import COMPLETED, job_status, standing
from towpath.recordings.stored import Work
from towpath.recordings.tags import tags_of
from towpath.recordings.twins import Twins, twins_of


@dataclass(slots=True)
class JobView:
    """One processing job as it is shown beside its recording: its status in words, and what more can be said about it."""

    id: str
    recording_id: str
    recording_title: str
    job_status: str
    job_type: str
    queue_type: str
    position: int | None
    """How many recordings are begun before it, and one: 1 is next. None once it is begun."""
    is_new_upload: bool
    error_message: str | None
    created_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    progress: tuple[float, float | None] | None = None
    eta_seconds: tuple[float, float] | None = None
    position_is_more: bool = False
    """Whether more than that are before it."""
    waiting_for: str | None = None
    """Why it waits, or why nobody can say how long."""
    error_remedy: str | None = None


@dataclass(slots=True)
class RecordingView:
    recording: Recording
    status: str
    job: JobView | None
    jobs: list[JobView] = field(default_factory=list)
    warning: str | None = None
    error: str | None = None
    """Why the newest job failed, also if it is gone."""
    needs_retry: bool = False
    tags: list[str] = field(default_factory=list)
    twins: Twins | None = None


async def views(app: App, recordings: Sequence[Recording]) -> list[RecordingView]:
    works = await stored.work_on(app, recordings)
    under_way = [work.recording.id for work in works if any(job.live for job in work.jobs)]
    found = await app.subjects.prospects(KIND, under_way)
    ids = [work.recording.id for work in works]
    tagged, twins = await tags_of(app, ids), await twins_of(app, ids)
    told = [_view(work, found) for work in works]
    for view in told:
        view.tags, view.twins = tagged.get(view.recording.id, []), twins.get(view.recording.id)
    return told


def _view(work: Work, found: Mapping[str, Prospect]) -> RecordingView:
    has_transcript = work.recording.transcript_id is not None
    told = standing(work.jobs, has_transcript=has_transcript, ended=work.recording.ended)
    jobs = [_job_view(job, work.recording, found.get(job.id)) for job in work.jobs if job.operation in QUEUE_OF]
    speaker = next((view for view in jobs if told.job is not None and view.id == told.job.id), None)
    error = speaker.error_message if speaker is not None else _error_of(told.ended)
    warning = _warning_of(work.recording, told.status)
    return RecordingView(work.recording, told.status, speaker, jobs, warning, error, told.needs_retry)


def _warning_of(recording: Recording, status: str) -> str | None:
    from towpath.recordings.transcribing import SILENT

    if status != COMPLETED:
        return None
    return SILENT if recording.lines == 0 else recording.remark


def _error_of(ended: Ended | None) -> str | None:
    return (ended.error or {}).get("message") if ended is not None and ended.state is State.FAILED else None


def _job_view(job: Job, recording: Recording, prospect: Prospect | None) -> JobView:
    error = (job.error or {}) if job.state is State.FAILED else {}
    view = JobView(
        id=job.id, recording_id=recording.id, recording_title=recording.title, job_status=job_status(job),
        job_type=job.operation, queue_type=QUEUE_OF[job.operation], position=None, is_new_upload=is_new_upload(job),
        error_message=error.get("message"), created_at=job.created_at, started_at=job.started_at,
        completed_at=job.finished_at, progress=_progress(job), error_remedy=error.get("remedy"),
    )  # fmt: skip
    if job.live and prospect is not None:
        view.position, view.position_is_more = prospect.position, prospect.is_more
        view.eta_seconds, view.waiting_for = prospect.eta, prospect.reason
    return view


def _progress(job: Job) -> tuple[float, float | None] | None:
    return None if job.progress_current is None else (job.progress_current, job.progress_total)
