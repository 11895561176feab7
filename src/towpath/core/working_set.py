"""The working set of one transaction: the locked rows as they were, as they will be, and what must be written with them.

A store locks the rows and makes a WorkingSet of them, `verbs.py` changes that, and the store writes the difference. So the
rules about states are plain Python that runs without a database, and both databases obey the same ones.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from towpath.core.encoding import plain
from towpath.core.lifecycle import State
from towpath.core.records import GATE_ROOTS, GATE_SLOTS, JOB_FIELDS, Event, Job, NewJob

NO_PLACE = 0.0  # every real pass is above it: the gate gives such a job a place at the end of its lane


def shut(gate: int, parent_id: str | None, *, begun: bool = False) -> bool:
    """Whether the gate of its lane holds a job back that would be ready otherwise."""
    return gate == GATE_SLOTS or (gate == GATE_ROOTS and parent_id is None and not begun)


class WorkingSet:
    def __init__(self, jobs: Iterable[Job], now: datetime) -> None:
        self.now = now
        self.jobs: dict[str, Job] = {}
        self._before: dict[str, Job] = {}
        self._families: dict[str, list[Job]] = {}  # by parent; ten thousand children are normal
        self.events: list[Event] = []
        self.new_jobs: list[NewJob] = []
        self.stamps: dict[str, bool] = {}  # job id -> True: a new place in the fair order; False: keeps its place
        self.gates: set[tuple[str, str]] = set()
        self.waits_forgotten: list[str] = []  # jobs whose timed-out waits begin anew
        self.steps_dropped: dict[str, str | None] = {}  # job id -> the fan-out after which they go, None: all
        self._counted: dict[str, None] = {}  # parents whose counters moved and whose event is not written yet
        self.add(jobs)

    def add(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            if job.id not in self.jobs:
                self.jobs[job.id] = job
                if job.parent_id is not None:
                    self._families.setdefault(job.parent_id, []).append(job)
                self._before[job.id] = copy.copy(job)
                job.gate = abs(job.gate)

    def children_of(self, job: Job) -> list[Job]:
        return [child for child in self._families.get(job.id, ()) if child.parent_id == job.id]

    def parent_of(self, job: Job) -> Job | None:
        return self.jobs.get(job.parent_id) if job.parent_id else None

    def note(
        self,
        job: Job,
        name: str,
        *,
        message: str | None = None,
        level: str = "info",
        fields: dict[str, Any] | None = None,
    ) -> None:
        job.seq += 1
        text = plain(message) if message is not None else None
        self.events.append(Event(job.id, job.seq, job.attempt, name, level, text, fields, self.now))

    def counted(self, parent: Job) -> None:
        """The parent's counters moved: one event for all children of this transaction, written by `tell_counts`."""
        self._counted[parent.id] = None

    def tell_counts(self, only: Job | None = None) -> None:
        for parent_id in [only.id] if only else list(self._counted):
            if parent_id not in self._counted:
                continue
            del self._counted[parent_id]
            parent = self.jobs[parent_id]
            self.note(parent, "job.children", fields=parent.counters())

    def admit(self, job: Job, *, fresh: bool, delay: float = 0.0, reason: str | None = None) -> None:
        """Puts a queued job where it belongs: ready, scheduled, behind its lane's gate, or behind its old handler."""
        job.state = State.QUEUED
        job.ready = job.parked = job.closing = False
        job.deadline = job.finished_at = None
        if delay > 0:
            job.run_at = self.now + timedelta(seconds=delay)
        if job.run_at is not None and job.run_at > self.now:
            job.reason = reason or "scheduled"
            return
        job.run_at = None
        begun = job.attempt > 0 and not fresh
        if job.leased:
            job.reason = "ending"
        elif shut(job.gate, job.parent_id, begun=begun):
            job.parked, job.reason = True, "capped"
            if fresh:
                job.pass_ = NO_PLACE
            self.gates.add((job.queue, job.lane))
        else:
            job.ready, job.reason = True, None
            self.stamps[job.id] = fresh

    def unlease(self, job: Job) -> None:
        """The worker lets go of the job."""
        job.leased = False
        job.lease_until = job.worker_id = None
        if job.gate:
            self.gates.add((job.queue, job.lane))

    def changes(self) -> list[tuple[Job, Job, list[str]]]:
        """Every row that differs: as it was, as it is, and the fields that changed."""
        found = []
        for job_id, job in self.jobs.items():
            job.derive()
            before = self._before[job_id]
            changed = [name for name in JOB_FIELDS if getattr(job, name) != getattr(before, name)]
            if changed:
                found.append((before, job, changed))
        return found
