"""How a job ends, and what that does to its family: it counts in its parent, which is woken or closed by the last child,
and a parent that fails or is cancelled takes its children along."""

from __future__ import annotations

from typing import Any

from towpath.core import waking
from towpath.core.encoding import encode
from towpath.core.lifecycle import ENDING_EVENT, State
from towpath.core.outcomes import Failure
from towpath.core.records import Job
from towpath.core.working_set import WorkingSet


def end(working: WorkingSet, job: Job, state: State, *, keep_lease: bool = False, **event: Any) -> None:
    """Every ending passes through here: the state, the event and the parent's counter belong together."""
    working.tell_counts(job)
    job.state = state
    job.ready = job.parked = False
    job.reason = job.run_at = job.deadline = None
    job.finished_at = working.now
    if job.gate:
        working.gates.add((job.queue, job.lane))
    if not keep_lease:
        working.unlease(job)
    if state in (State.SUCCEEDED, State.PARTIAL):
        job.error_json = job.error_kind = job.error_group = None  # of an attempt that no longer matters
    working.note(job, ENDING_EVENT[state], **event)
    working.stamps.pop(job.id, None)
    parent = working.parent_of(job)
    if parent is not None:
        count(parent, job, +1)
        working.counted(parent)
        _child_ended(working, parent, job)


def count(parent: Job, child: Job, change: int) -> None:
    match child.state:
        case State.SUCCEEDED:
            parent.children_ok += change
        case State.PARTIAL:
            parent.children_partial += change
        case State.FAILED | State.CANCELLED:
            parent.children_bad += change
    follow_children(parent)


def counters(job: Job) -> dict[str, Any]:
    return job.counters() if job.children_total else {}


def follow_children(parent: Job) -> None:
    """A parent that reports no progress of its own shows its children's."""
    if parent.children_total == 0:
        return
    if parent.progress_total is None or parent.progress_total == parent.children_total:
        parent.progress_current, parent.progress_total = float(parent.children_ended), float(parent.children_total)


def _child_ended(working: WorkingSet, parent: Job, child: Job) -> None:
    if parent.await_group == child.child_group and parent.await_open > 0:
        parent.await_open -= 1
        if parent.await_open == 0 and not parent.closing:
            waking.wake(working, parent, "children")
            return
    if parent.closing and parent.state is State.WAITING and parent.children_open == 0:
        close(working, parent)


def close(working: WorkingSet, parent: Job) -> None:
    """All children have ended: all ok is succeeded, some is partial, none is failed."""
    total, good = parent.children_total, parent.children_ok
    if good == total:
        end(working, parent, State.SUCCEEDED, fields={"children": total})
    elif good + parent.children_partial > 0:
        message = f"{total - good} of {total} children did not fully succeed"
        end(working, parent, State.PARTIAL, message=message, level="warning")
    else:
        failure = Failure("children", "ChildrenFailed", f"none of {total} children succeeded", "requeue the failed children")
        record(parent, failure)
        end(working, parent, State.FAILED, message=failure.message, level="error", fields=failure.as_dict())


def give_up(working: WorkingSet, job: Job, failure: Failure) -> None:
    record(job, failure)
    fields = failure.as_dict() | {"failures": job.failures}
    end(working, job, State.FAILED, message=failure.message, level="error", fields=fields)
    cancel_children(working, job, "the parent failed")


def cancel_children(working: WorkingSet, job: Job, message: str) -> None:
    for child in working.children_of(job):
        if child.live:
            end(working, child, State.CANCELLED, keep_lease=child.leased, message=message, fields={"leased": child.leased})
            cancel_children(working, child, message)


def record(job: Job, failure: Failure) -> None:
    job.error_json = encode(failure.as_dict())
    job.error_kind = failure.kind
    job.error_group = failure.group
