"""How a job begins anew: with those of its children that did not succeed, and in a parent that has to wait for it again."""

from __future__ import annotations

from datetime import timedelta

from towpath.core import endings
from towpath.core.lifecycle import TABLE, State
from towpath.core.records import Job
from towpath.core.transitions import Transition
from towpath.core.working_set import WorkingSet


def requeue(working: WorkingSet, job: Job, t: Transition) -> str | None:
    above = working.parent_of(job)
    while above is not None:
        if above.state is State.CANCELLED:
            return f"its ancestor {above.id} was cancelled; requeue that one instead"
        above = working.parent_of(above)
    parent = working.parent_of(job)
    if parent is not None:
        _uncount(working, parent, job)
    _start_over(working, job, t)
    return None


def _start_over(working: WorkingSet, job: Job, t: Transition) -> None:
    unsuccessful = [child for child in working.children_of(job) if child.ended and child.state is not State.SUCCEEDED]
    if t.payload_json is not None:
        job.payload_json = t.payload_json
        if not t.keep_steps:
            _forget(working, job)
            unsuccessful = []
    _fresh_budget(job)
    for child in unsuccessful:
        endings.count(job, child, -1)
        if child.child_group == job.await_group:
            job.await_open += 1
        _start_over(working, child, Transition("requeue", child.id))
    if unsuccessful and job.closing and job.state in TABLE["reopen"].sources:
        _reopen(working, job)
        return
    job.result_json = None
    job.started_at = None  # the time between the two lives is nobody's work
    working.waits_forgotten.append(job.id)
    working.admit(job, fresh=True)
    working.note(job, "job.requeued", fields={"failures": 0, "edited": t.payload_json is not None} | job.counters())


def _fresh_budget(job: Job) -> None:
    job.failures = job.retry_laters = 0
    job.error_json = job.error_kind = job.error_group = None
    job.run_at = None


def _forget(working: WorkingSet, job: Job) -> None:
    """An edited payload makes the old records wrong: the steps go, the children stay in history on their own."""
    working.steps_dropped[job.id] = None
    job.steps = 0
    let_go(job, working.children_of(job))
    job.children_total = job.children_ok = job.children_partial = job.children_bad = 0
    job.await_group, job.await_open, job.closing = None, 0, False
    job.progress_current = job.progress_total = None


def let_go(parent: Job, children: list[Job]) -> None:
    """Children whose fan-out no longer counts, because it is being made anew: they go on as jobs of their own."""
    follows = parent.progress_total == parent.children_total
    for child in children:
        endings.count(parent, child, -1)
        parent.children_total -= 1
        child.parent_id, child.child_group, child.root_id = None, None, child.id
    if follows:
        parent.progress_current = parent.progress_total = None
        endings.follow_children(parent)


def _uncount(working: WorkingSet, parent: Job, child: Job) -> None:
    """The child will end again, so its first ending no longer counts; a parent that had ended is open again."""
    endings.count(parent, child, -1)
    working.counted(parent)
    if parent.await_group == child.child_group:
        parent.await_open += 1
    if parent.live:
        return
    grandparent = working.parent_of(parent)
    if grandparent is not None:
        _uncount(working, grandparent, parent)
    _fresh_budget(parent)
    if not parent.closing:
        # It had gone on past that fan-out: what it recorded since rests on an outcome that no longer holds.
        parent.result_json = None
        parent.await_group, parent.await_open = child.child_group, 1
        working.steps_dropped[parent.id] = child.child_group
    _reopen(working, parent)


def _reopen(working: WorkingSet, job: Job) -> None:
    working.tell_counts(job)
    job.state = State.WAITING
    job.finished_at = None
    job.reason = "children"
    job.deadline = working.now + timedelta(days=7)
    working.note(job, "job.reopened", fields={"failures": 0} | endings.counters(job))
