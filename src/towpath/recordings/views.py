"""Recordings and their jobs as people see them: status, place in line, estimate, error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.app import App
from towpath.recordings import estimating, keeping
from towpath.recordings.estimating import Ahead, Speeds
from towpath.recordings.keeping import Work
from towpath.recordings.names import QUEUE_OF, SUMMARIZING, TRANSCRIPTION_QUEUE, WITH_SPEAKERS
from towpath.recordings.records import Ended, Link, Recording
from towpath.recordings.status import COMPLETED, job_status, standing, state_of
from towpath.store.contract import Row, Store, Tx

MOST_IN_LINE = 1000


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
    is_new_upload: bool
    error_message: str | None
    created_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    progress: tuple[float, float | None] | None = None
    eta_seconds: tuple[float, float] | None = None
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


@dataclass(slots=True)
class _Line:
    """A lane's recordings that are not transcribed yet, in the order in which they are begun."""

    order: list[str]
    ahead: dict[str, Ahead]
    parked: set[str]
    waiting: list[str]
    """Those that nobody has begun."""

    def before(self, job_id: str) -> list[Ahead]:
        return [self.ahead[one] for one in self.order[: self.order.index(job_id)]] if job_id in self.ahead else []


async def views(app: App, recordings: Sequence[Recording]) -> list[RecordingView]:
    works = await keeping.work_on(app.services.store, recordings)
    teller = await Teller.of(app, [job for work in works for job in work.jobs], works)
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

    def __init__(self, app: App, lines: dict[str, _Line], speeds: Speeds) -> None:
        self._app, self._lines, self._speeds = app, lines, speeds

    @classmethod
    async def of(cls, app: App, jobs: Sequence[Job], works: Sequence[Work]) -> Teller:
        lanes = sorted({job.lane for job in jobs if job.live and job.queue == TRANSCRIPTION_QUEUE})
        return cls(app, {lane: await _line(app.services.store, lane) for lane in lanes}, await speeds_of(app.services.store))

    async def tell(self, job: Job, link: Link, recording: Recording) -> JobView:
        error = job.error or {}
        view = JobView(
            id=job.id, recording_id=recording.id, recording_title=recording.title, job_status=job_status(job),
            job_type=link.kind, queue_type=QUEUE_OF[link.kind], position=None, is_new_upload=link.is_new_upload,
            error_message=error.get("message") if job.state is State.FAILED else None, created_at=job.created_at,
            started_at=job.started_at, completed_at=job.finished_at, progress=_progress(job),
            error_remedy=error.get("remedy") if job.state is State.FAILED else None,
        )  # fmt: skip
        if job.live:
            await self._look_ahead(job, view, recording)
        return view

    async def _look_ahead(self, job: Job, view: JobView, recording: Recording) -> None:
        if state_of(job) is State.QUEUED:
            await self._place(job, view)
        if job.operation in SUMMARIZING:
            return
        line = self._lines.get(job.lane)
        own = Ahead(_seconds(recording), _done(job, recording), recording.speakers)
        held = view.waiting_for is not None and view.position is None
        view.eta_seconds = None if held else estimating.estimate(own, line.before(job.id) if line else [], self._speeds)
        if view.eta_seconds is None and view.waiting_for is None:
            view.waiting_for = estimating.NO_HISTORY

    async def _place(self, job: Job, view: JobView) -> None:
        """The place in line, 1 is next. Behind the person's own cap it is the place among the person's recordings."""
        line = self._lines.get(job.lane)
        if line is not None and job.id in line.parked:
            view.position = line.waiting.index(job.id) + 1
            return
        told = await self._app.explain(job.id)
        if told.reason not in ("behind", "next"):
            view.waiting_for = told.sentence
        if told.position is not None:
            view.position = await _recordings_ahead(self._app.services.store, job) + 1


def _progress(job: Job) -> tuple[float, float | None] | None:
    return None if job.progress_current is None else (job.progress_current, job.progress_total)


def _seconds(recording: Recording) -> float:
    return estimating.seconds_of(recording.duration, recording.bytes, recording.media_type)


def _done(job: Job, recording: Recording) -> float:
    """The progress counts seconds only once there is a total in seconds."""
    return (job.progress_current or 0.0) if job.progress_total == recording.duration else 0.0


async def _line(store: Store, lane: str) -> _Line:
    async def unit(tx: Tx) -> Sequence[Row]:
        return await tx.fetch("recording_lane_line", queue=TRANSCRIPTION_QUEUE, lane=lane, limit=MOST_IN_LINE)

    rows = await store.read(unit)
    return _Line(
        order=[str(row["job_id"]) for row in rows],
        ahead={str(row["job_id"]): _ahead(row) for row in rows},
        parked={str(row["job_id"]) for row in rows if row["parked"]},
        waiting=[str(row["job_id"]) for row in rows if row["parked"] or _not_begun(row)],
    )


def _not_begun(row: Any) -> bool:
    return row["state"] == State.QUEUED.value and not row["children_total"]


async def _recordings_ahead(store: Store, job: Job) -> int:
    """The engine's own count has the parts of recordings in it, which are nobody's place in line."""
    asked = {"queue": job.queue, "priority": job.priority, "pass": job.pass_, "id": job.id, "limit": MOST_IN_LINE}
    rows = await store.read(lambda tx: tx.fetch("recordings_ahead", **asked))
    return int(rows[0]["recordings"])


def _ahead(row: Any) -> Ahead:
    seconds = estimating.seconds_of(row["duration"], row["bytes"], row["media_type"])
    done = row["progress_current"] or 0.0
    return Ahead(seconds, done if row["progress_total"] == row["duration"] else 0.0, bool(row["speakers"]))


async def speeds_of(store: Store) -> Speeds:
    """Seconds of audio per second, as this installation has transcribed lately."""
    rows = await store.read(lambda tx: tx.fetch("recording_speed"))
    plain, speakers = (
        [(row["audio_seconds"], row["wall_seconds"]) for row in rows if row["engine"].endswith(WITH_SPEAKERS) is told]
        for told in (False, True)
    )
    return Speeds(estimating.speed(plain), estimating.speed(speakers))
