"""A job's row, told by its events alone. If folding the events does not give the row, one of them lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from towpath.core.lifecycle import STATE_AFTER, State
from towpath.core.records import Event, Job

_COUNTERS = {
    "total": "children_total",
    "ok": "children_ok",
    "partial": "children_partial",
    "bad": "children_bad",
    "current": "progress_current",
    "of": "progress_total",
    "failures": "failures",
}


@dataclass(slots=True)
class Folded:
    state: State = State.QUEUED
    seq: int = 0
    attempt: int = 0
    failures: int = 0
    progress_current: float | None = None
    progress_total: float | None = None
    children_total: int = 0
    children_ok: int = 0
    children_partial: int = 0
    children_bad: int = 0


def fold(events: Iterable[Event]) -> Folded:
    row = Folded()
    for event in sorted(events, key=lambda item: item.seq):
        row.seq = event.seq
        row.attempt = max(row.attempt, event.attempt)
        row.state = STATE_AFTER.get(event.name, row.state)
        if event.name.startswith("job."):
            for key, attribute in _COUNTERS.items():
                if event.fields and key in event.fields:
                    setattr(row, attribute, event.fields[key])
    return row


def differences(job: Job, folded: Folded) -> list[str]:
    """Where the row and its history disagree, in words."""
    return [
        f"{name}: the row says {getattr(job, name)!r}, its events say {getattr(folded, name)!r}"
        for name in Folded.__dataclass_fields__
        if getattr(job, name) != getattr(folded, name)
    ]
