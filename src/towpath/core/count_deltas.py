"""What a transaction changes in the counts, per queue and operation: a row of `count_delta` each (decision 0007)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields

from towpath.core.lifecycle import STATE_AFTER, State
from towpath.core.records import Event, Job

_COUNT_OF = {
    "job.succeeded": "succeeded",
    "job.partial": "partial",
    "job.failed": "failed",
    "job.cancelled": "cancelled",
    "job.retry_scheduled": "retried",
    "job.retry_later": "retried",
    "job.rescued": "retried",
}
_LEVEL_OF = {State.QUEUED: "queued", State.RUNNING: "running", State.WAITING: "waiting"}


@dataclass(slots=True)
class CountDelta:
    """What happened (`created` to `retried`), and how many more or fewer jobs are in a state now (`queued` to `waiting`)."""

    queue: str
    operation: str
    created: int = 0
    started: int = 0
    succeeded: int = 0
    partial: int = 0
    failed: int = 0
    cancelled: int = 0
    retried: int = 0
    queued: int = 0
    running: int = 0
    waiting: int = 0
    wait_seconds: float = 0.0
    run_seconds: float = 0.0
    waits: list[float] | None = None
    """How long each of the started jobs had waited, in seconds; None if none had."""
    runs: list[float] | None = None
    """How long each of the ended jobs took from its first start (after a requeue, the first since), in seconds."""

    def ran(self, seconds: float) -> None:
        self.run_seconds += seconds
        self.runs = self.runs or []
        self.runs.append(round(seconds, 6))


COUNT_DELTA_FIELDS = tuple(item.name for item in fields(CountDelta))
COUNTS = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried")
FLOWS = (*COUNTS, "wait_seconds", "run_seconds")
"""What adds up over time: how often something happened, and how long jobs waited and ran altogether."""
LEVELS = tuple(_LEVEL_OF.values())
"""How many jobs are in a state now."""


def count_changes(
    changes: Iterable[tuple[Job, Job, list[str]]], events: Iterable[Event], jobs: dict[str, Job]
) -> list[CountDelta]:
    """What happened is counted from the events, who is in which state from the rows."""
    found: dict[tuple[str, str], CountDelta] = {}

    def of(job: Job) -> CountDelta:
        key = (job.queue, job.operation)
        return found.setdefault(key, CountDelta(*key))

    for before, after, _ in changes:
        if before.state is not after.state:
            for state, change in ((before.state, -1), (after.state, +1)):
                if state in _LEVEL_OF:
                    name = _LEVEL_OF[state]
                    setattr(of(after), name, getattr(of(after), name) + change)
            if after.finished_at is not None and after.started_at is not None:
                of(after).ran((after.finished_at - after.started_at).total_seconds())
    for event in events:
        if event.name in _COUNT_OF and event.name in STATE_AFTER:
            name = _COUNT_OF[event.name]
            setattr(of(jobs[event.job_id]), name, getattr(of(jobs[event.job_id]), name) + 1)
    return list(found.values())


def count_new(jobs: Iterable[tuple[str, str]]) -> list[CountDelta]:
    """Of freshly inserted jobs, each given as its queue and operation."""
    count: dict[tuple[str, str], int] = defaultdict(int)
    for pair in jobs:
        count[pair] += 1
    return [CountDelta(*pair, created=n, queued=n) for pair, n in count.items()]
