"""Events of a job's history."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from towpath.core.encoding import DEEPEST, deeper_than
from towpath.core.records import Event as EventRow
from towpath.server.schemas.base import Answer, Moment, any_case

Level = Literal["debug", "info", "warning", "error"]
AskedLevel = Annotated[Level, any_case(Level)]


class Event(Answer):
    """One line of a job's history; `seq` orders the events of one job without gaps."""

    job_id: str
    seq: int
    attempt: int
    name: str
    level: str
    message: str | None
    fields: dict[str, Any] | None
    ts: Moment


def event_of(row: EventRow) -> Event:
    return Event.model_construct(
        job_id=row.job_id,
        seq=row.seq,
        attempt=row.attempt,
        name=row.name,
        level=row.level,
        message=row.message,
        fields=row.fields if not deeper_than(row.fields, DEEPEST) else {"truncated": True},
        ts=row.ts,
    )
