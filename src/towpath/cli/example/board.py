"""What the display of `towpath up` knows: the jobs of this run, as their events tell it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from towpath.core.lifecycle import STATE_AFTER, TERMINAL, State
from towpath.core.records import Event, Job

_TAIL = 50
# What a person wants to read while it runs; the rest is in the database.
_WORTH_TELLING = {
    "job.succeeded",
    "job.partial",
    "job.failed",
    "job.retry_scheduled",
    "job.spawned",
    "job.rescued",
    "job.cancelled",
}


@dataclass(slots=True)
class Seen:
    """A job as far as its events have told."""

    operation: str
    tenant: str
    label: str
    state: State = State.QUEUED
    current: float = 0.0
    total: float | None = None
    retries: int = 0


@dataclass(slots=True)
class Line:
    at: datetime | None
    tenant: str
    what: str
    name: str
    text: str
    level: str


@dataclass(slots=True)
class Board:
    cursor: str | None = None
    jobs: dict[str, Seen] = field(default_factory=dict)
    tail: deque[Line] = field(default_factory=lambda: deque(maxlen=_TAIL))

    def knows(self, job_id: str) -> bool:
        return job_id in self.jobs

    def meet(self, job: Job) -> None:
        self.jobs[job.id] = Seen(job.operation, job.tenant, _label(job.payload))

    def hear(self, event: Event) -> Line | None:
        """Takes an event in; answers the line about it, if it is worth one."""
        self.cursor = event.token
        seen, fields = self.jobs[event.job_id], event.fields or {}
        seen.state = STATE_AFTER.get(event.name, seen.state)
        if fields.get("current") is not None:
            seen.current, seen.total = fields["current"], fields.get("of") or seen.total
        if event.name == "job.retry_scheduled":
            seen.retries += 1
        if event.name not in _WORTH_TELLING:
            return None
        line = Line(event.ts, seen.tenant, seen.operation, event.name, _text(seen, event, fields), event.level)
        self.tail.append(line)
        return line

    def of(self, operation: str) -> list[Seen]:
        return [seen for seen in self.jobs.values() if seen.operation == operation]

    def of_tenant(self, tenant: str) -> list[Seen]:
        return [seen for seen in self.jobs.values() if seen.tenant == tenant]

    def running(self) -> list[Seen]:
        return [seen for seen in self.jobs.values() if seen.state is State.RUNNING]


def count(jobs: list[Seen], *states: State) -> int:
    return sum(seen.state in states for seen in jobs)


def ended(jobs: list[Seen]) -> int:
    return sum(seen.state in TERMINAL for seen in jobs)


def _label(payload: Any) -> str:
    """The file or folder that the job is about."""
    path = next((payload[name] for name in ("path", "source", "folder") if name in payload), "")
    return Path(path).name


def _text(seen: Seen, event: Event, fields: dict[str, Any]) -> str:
    match event.name:
        case "job.spawned":
            return f"has {fields.get('children', 'some')} documents to see to"
        case "job.succeeded":
            return f"{seen.label} done"
        case "job.retry_scheduled":
            return f"{seen.label} will be tried again: {fields.get('message') or event.message}"
        case _:
            return f"{seen.label} {event.name.removeprefix('job.')}: {fields.get('message') or event.message or ''}"
