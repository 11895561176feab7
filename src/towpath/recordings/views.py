"""Recordings and their jobs as people see them: status, place in line, estimate, error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.app import App
from towpath.recordings import keeping
from towpath.recordings.foreseeing import Prospect, prospects
from towpath.recordings.keeping import Work
from towpath.recordings.learning import speeds_of
from towpath.recordings.names import QUEUE_OF
from towpath.recordings.records import Ended, Link, Recording
from towpath.recordings.status import COMPLETED, job_status, standing, state_of


@dataclass(slots=True)
class JobView:
    """One processing job in the words of S1, and what more can be said about it."""

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


async def views(app: App, recordings: Sequence[Recording]) -> list[RecordingView]:
    works = await keeping.work_on(app.services.store, recordings)
    teller = await Teller.of(app, [job for work in works for job in work.jobs])
    return [await _view(teller, work) for work in works]


async def _view(teller: Teller, work: Work) -> RecordingView:
    has_transcript = work.recording.transcript_id is not None
    told = standing(work.jobs, has_transcript=has_transcript, ended=work.recording.ended)
    jobs = [await teller.tell(job, work.link_of(job), work.recording) for job in work.jobs]
    speaker = next((view for view in jobs if told.job is not None and view.id == told.job.id), None)
    error = speaker.error_message if speaker is not None else _error_of(told.ended)
    return RecordingView(work.recording, told.status, speaker, jobs, _warning_of(work.recording, told.status), error)


def _warning_of(recording: Recording, status: str) -> str | None:
    from towpath.recordings.transcribing import SILENT

    return SILENT if status == COMPLETED and recording.lines == 0 else None


def _error_of(ended: Ended | None) -> str | None:
    return (ended.error or {}).get("message") if ended is not None and ended.state is State.FAILED else None


class Teller:
    """Tells about jobs; what it needs of other jobs it looks up once for all."""

    def __init__(self, app: App, found: Mapping[str, Prospect]) -> None:
        self._app, self._found = app, found

    @classmethod
    async def of(cls, app: App, jobs: Sequence[Job]) -> Teller:
        live = [job for job in jobs if job.live]
        if not live:
            return cls(app, {})
        store, speeds = app.services.store, await speeds_of(app)
        found: dict[str, Prospect] = {}
        for queue in sorted({job.queue for job in live}):
            found |= await prospects(store, queue, [job for job in live if job.queue == queue], speeds)
        return cls(app, found)

    async def tell(self, job: Job, link: Link, recording: Recording) -> JobView:
        error = job.error or {}
        view = JobView(
            id=job.id, recording_id=recording.id, recording_title=recording.title, job_status=job_status(job),
            job_type=link.kind, queue_type=QUEUE_OF[link.kind], position=None, is_new_upload=link.is_new_upload,
            error_message=error.get("message") if job.state is State.FAILED else None, created_at=job.created_at,
            started_at=job.started_at, completed_at=job.finished_at, progress=_progress(job),
            error_remedy=error.get("remedy") if job.state is State.FAILED else None,
        )  # fmt: skip
        if job.live and job.id in self._found:
            await self._look_ahead(job, view, self._found[job.id])
        return view

    async def _look_ahead(self, job: Job, view: JobView, prospect: Prospect) -> None:
        waits = state_of(job) is State.QUEUED
        if waits and prospect.position is None:  # not in line at all, such as behind a failure
            view.waiting_for = (await self._app.explain(job.id)).sentence
            return
        if waits:
            view.position, view.position_is_more = prospect.position, prospect.is_more
        view.eta_seconds, view.waiting_for = prospect.outlook.seconds, prospect.outlook.reason


def _progress(job: Job) -> tuple[float, float | None] | None:
    return None if job.progress_current is None else (job.progress_current, job.progress_total)
