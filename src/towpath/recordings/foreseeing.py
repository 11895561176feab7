"""When recordings will be begun and done: the line as subjects of a forecast, and the forecast in words for each job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from towpath.core.forecast import Forecast, Piece, Subject, Where, foresee
from towpath.core.records import Job
from towpath.recordings import estimating
from towpath.recordings.estimating import Basis, Outlook, Pace, Speeds
from towpath.recordings.line import MOST_IN_LINE, Line, read_line
from towpath.recordings.names import SUMMARY_QUEUE
from towpath.store.contract import Row, Store

_SOME_PACE = Pace(10.0, Basis.KNOWN)
"""Where no speed is known there is still an order."""
_ENOUGH_HEARD = 5.0
_FEW_PARKED = 50
_UNKNOWN_LENGTH = 60.0


@dataclass(frozen=True, slots=True)
class Prospect:
    """`position`: how many recordings are begun before it, and one; None if it is begun, or not in line."""

    position: int | None
    is_more: bool
    outlook: Outlook


async def prospects(store: Store, queue: str, asked: Sequence[Job], speeds: Speeds) -> dict[str, Prospect]:
    """Of jobs in this queue that have not ended. What is parked is read until there is enough of it."""
    parked = _FEW_PARKED
    while True:
        line = await store.read(partial(read_line, queue=queue, asked=asked, parked=parked))
        forecast = _foreseen(line, speeds, asked)
        if parked > MOST_IN_LINE or not _ran_dry(line, forecast, asked):
            return {job.id: _prospect(line, forecast, speeds, job) for job in asked}
        parked *= 5


def _ran_dry(line: Line, forecast: Forecast, asked: Sequence[Job]) -> bool:
    """Whether somebody who was asked for stands behind parked ones that were not read."""
    first = min((forecast.dry[lane] for lane in line.cut if lane in forecast.dry), default=None)
    if first is None or first > MOST_IN_LINE:
        return False
    return any(forecast.places.get(job.id, MOST_IN_LINE) > first for job in asked)


def _foreseen(line: Line, speeds: Speeds, asked: Sequence[Job]) -> Forecast:
    subjects = _Subjects(line, speeds).all()
    return foresee(
        subjects, line.hands.working, asked={job.id for job in asked}, floors=line.floors, lanes=line.lanes,
        most_places=MOST_IN_LINE,
    )  # fmt: skip


def _prospect(line: Line, forecast: Forecast, speeds: Speeds, job: Job) -> Prospect:
    place = forecast.places.get(job.id)
    over = place is None and (job.ready or job.parked) and (line.more or len(forecast.places) > MOST_IN_LINE)
    is_more = over or (place is not None and place > MOST_IN_LINE)
    row = _rows_of(line).get(job.id)
    pace = _pace(line, speeds, job.id, row)
    unknown = estimating.NO_SUMMARY if line.queue == SUMMARY_QUEUE else estimating.NO_SPEED
    end = None if is_more else forecast.ends.get(job.id)
    crowded = forecast.crowded.get(job.id, 0.0)
    begun = place is None and not is_more
    outlook = estimating.outlook(end, pace, line.hands, crowded=crowded, unknown=unknown, begun=begun)
    return Prospect(MOST_IN_LINE if is_more else place, is_more, outlook)


def _rows_of(line: Line) -> Mapping[str, Row]:
    return {str(row["id"]): row for row in (*line.roots, *line.parked, *line.begun.values())}


def _pace(line: Line, speeds: Speeds, job_id: str, row: Row | None) -> Pace | None:
    """What this very run has shown, else what was seen of others, else what is known of the model."""
    if line.queue == SUMMARY_QUEUE:
        return speeds.summary
    heard, took = line.own.get(job_id, (0.0, 0.0))
    if heard >= _ENOUGH_HEARD and took > 0:
        return Pace(heard / took, Basis.OWN)
    return speeds.of(bool(row["speakers"]) if row is not None else False)


class _Subjects:
    def __init__(self, line: Line, speeds: Speeds) -> None:
        self._line, self._speeds = line, speeds
        self._found: dict[str, Subject] = {}
        self._held = {str(row["id"]): row for row in line.held if row["parent_id"] is None}
        self._known: dict[str, int] = {}

    def all(self) -> list[Subject]:
        for row in self._line.roots:
            self._add_waiting(row, Where.READY)
        for row in self._line.begun.values():
            self._add_begun(row)
        for row in self._line.parked:
            if row["parent_id"] is None:
                self._add_waiting(row, Where.PARKED)
            else:
                self._part(row, Where.PARKED, 0.0)
        for row in self._line.held:
            if row["parent_id"] is not None:
                self._part(row, Where.RUNNING, self._elapsed(row))
        for row in self._line.begun.values():
            self._fill_up(row)
        return list(self._found.values())

    def _pace(self, row: Any) -> Pace:
        return _pace(self._line, self._speeds, str(row["id"]), row) or _SOME_PACE

    def _elapsed(self, row: Any) -> float:
        """Of a job's first attempt; of later ones nobody knows when they began."""
        if row["started_at"] is None or row["attempt"] > 1:
            return 0.0
        started: datetime = row["started_at"]
        return max(0.0, (self._line.now - started).total_seconds())

    def _subject(self, row: Any, *, begun: bool) -> Subject:
        """With what is to come, as if nothing had been done yet."""
        subject = Subject(str(row["id"]), row["lane"], row["priority"], begun=begun)
        if self._line.queue != SUMMARY_QUEUE and not row["children_total"]:
            subject.makes, subject.closing = estimating.parts_of(_seconds(row), self._pace(row)), self._speeds.closing
        self._found[subject.id] = subject
        return subject

    def _alone(self, row: Any) -> float:
        """Seconds that a recording's own job takes when it is begun."""
        if self._line.queue == SUMMARY_QUEUE:
            return 1.0 / self._pace(row).speed
        return self._speeds.beginning + _seconds(row) / estimating.DECODING

    def _add_waiting(self, row: Any, where: Where) -> None:
        back = bool(row["children_total"]) and where is Where.READY
        subject = self._subject(row, begun=back)
        place = row["pass"] if where is Where.READY else 0.0
        taking = self._speeds.closing if row["children_total"] else self._alone(row)
        subject.own = Piece(subject.id, taking, where, place, begun=row["attempt"] > 0)

    def _add_begun(self, row: Any) -> None:
        subject = self._subject(row, begun=True)
        subject.pass_ = row["pass"]
        held = self._held.get(subject.id)
        if held is not None:
            taking = (
                self._speeds.closing if row["children_total"] else estimating.left(self._alone(row), self._elapsed(held))
            )
            subject.own = Piece(subject.id, taking, Where.RUNNING, row["pass"], begun=True)
            return
        subject.closing = self._speeds.closing
        group = self._line.parts.get(subject.id)
        if group is not None:
            count, cost = int(group["parts"]), group["cost"] / group["parts"]
            step = (group["last"] - group["first"]) / max(1, count - 1)
            self._parts(subject, row, count, cost, group["first"], step)

    def _parts(self, subject: Subject, row: Any, count: int, cost: float, first: float, step: float) -> None:
        seconds = cost / self._pace(row).speed
        for number in range(count):
            name = f"{subject.id}.{len(subject.parts):05}"
            subject.parts.append(Piece(name, seconds, Where.READY, first + step * number, cost))

    def _part(self, row: Any, where: Where, elapsed: float) -> None:
        subject = self._found.get(str(row["parent_id"]))
        above = self._line.begun.get(str(row["parent_id"]))
        if subject is None or above is None:
            return
        whole = row["cost"] / self._pace(above).speed
        taking = estimating.left(whole, elapsed) if where is Where.RUNNING else whole
        begun = row["attempt"] > 0
        subject.parts.append(Piece(str(row["id"]), taking, where, subject.pass_, row["cost"], begun))

    def _fill_up(self, row: Any) -> None:
        """Parts that were not read: too far behind, or waiting to be tried again. They come last."""
        subject = self._found[str(row["id"])]
        missing = _open(row) - len(subject.parts)
        if subject.own is None and missing > 0:
            cost = max(1.0, _seconds(row) / row["children_total"])
            last = max((part.pass_ for part in subject.parts), default=subject.pass_)
            self._parts(subject, row, missing, cost, last + cost, cost)
        if subject.own is None and not subject.parts:
            subject.own, subject.closing = (
                Piece(subject.id, self._speeds.closing, Where.READY, subject.pass_, begun=True),
                None,
            )


def _open(row: Any) -> int:
    ended = row["children_ok"] + row["children_partial"] + row["children_bad"]
    return int(row["children_total"] - ended)


def _seconds(row: Any) -> float:
    if row["bytes"] is None:
        return _UNKNOWN_LENGTH
    return max(0.1, estimating.seconds_of(row["duration"], row["stated"], row["bytes"], row["media_type"]))
