"""One broken promise, with the evidence a person needs to find out why."""

from collections.abc import Iterable
from dataclasses import dataclass

from towpath.core.records import Event, Job


@dataclass(frozen=True, slots=True)
class Violation:
    invariant: str
    job_id: str | None
    message: str
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"{self.invariant}  job {self.job_id}: {self.message}" if self.job_id else f"{self.invariant}  {self.message}"
        return "\n".join([head, *(f"      {line}" for line in self.evidence)])


def broken(invariant: str, job: Job | str | None, message: str, events: Iterable[Event] = ()) -> Violation:
    job_id = job.id if isinstance(job, Job) else job
    name = f"({job.operation}) " if isinstance(job, Job) else ""
    return Violation(invariant, job_id, name + message, tuple(map(line, events)))


def line(event: Event) -> str:
    """An event as one line: seq, time, attempt, name, and what it carries."""
    when = event.ts.strftime("%H:%M:%S.%f") if event.ts else "?"
    carries = " ".join(f"{key}={value!r}" for key, value in (event.fields or {}).items())
    return f"#{event.seq:<4} {when}  attempt {event.attempt:<3} {event.name:<20} {event.message or ''} {carries}".rstrip()
