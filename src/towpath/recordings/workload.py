"""How much work the jobs on recordings are: as much as there is audio in them, at the speed that was measured here."""

from __future__ import annotations

from collections.abc import Sequence

from towpath import App, InLine, Row, Work
from towpath.recordings import estimating
from towpath.recordings.estimating import Pace, Speeds
from towpath.recordings.learning import speeds_of
from towpath.recordings.names import QUEUE_OF, SUMMARIZING

NO_SPEED = "nothing has been transcribed here yet, so there is no speed to estimate by"
NO_SUMMARY = "no summary was written here yet, so there is nothing to estimate by"

_SOME_PACE = Pace(10.0, Work.KNOWN)
"""Where no speed is known there is still an order."""
_UNKNOWN_LENGTH = 60.0


class Workload:
    """Bound to its app: what `app.workload` is told."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def of(self, jobs: Sequence[InLine]) -> dict[str, Work]:
        speeds = await speeds_of(self._app)
        rows = await self._app.query("recording_lengths", ids=sorted({job.subject_id for job in jobs}))
        lengths = {row["id"]: row for row in rows}
        return {job.job_id: work_of(job, lengths.get(job.subject_id), speeds) for job in jobs if job.operation in QUEUE_OF}


def work_of(job: InLine, row: Row | None, speeds: Speeds) -> Work:
    """`row` is what is known of the recording's length; None if it is gone."""
    return _summary(speeds) if job.operation in SUMMARIZING else _transcription(row, speeds)


def _summary(speeds: Speeds) -> Work:
    pace = speeds.summary or _SOME_PACE
    return Work(1.0 / pace.speed, between=pace.between, reason=None if speeds.summary else NO_SUMMARY)


def _transcription(row: Row | None, speeds: Speeds) -> Work:
    seconds, is_guessed = _length(row)
    known = speeds.of(bool(row["speakers"]) if row is not None else False)
    pace = known or _SOME_PACE
    return Work(
        speeds.beginning + seconds / estimating.DECODING, estimating.parts_of(seconds, pace), speeds.closing,
        Work.KNOWN if is_guessed else pace.between, None if known else NO_SPEED,
    )  # fmt: skip


def _length(row: Row | None) -> tuple[float, bool]:
    """Seconds of audio, and whether that is no more than a guess."""
    if row is None:
        return _UNKNOWN_LENGTH, True
    seconds = estimating.seconds_of(row["duration"], row["stated"], row["bytes"], row["media_type"])
    return max(0.1, seconds), row["duration"] is None and row["stated"] is None
