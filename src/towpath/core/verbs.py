"""The verbs of the lifecycle, performed on a WorkingSet.

In Python a job's state is changed here and in `WorkingSet.admit`, which puts it into its queue, and nowhere else. Two
changes are made by SQL alone, because every job passes through them: `claim`, and the plain success of a job without
relatives and caps. Those statements are `turn.sql` on PostgreSQL and `procedures.sql` on SQLite. They take their states from
the table of verbs, and tests compare what they leave behind with what is done here.

Each verb either changes the working set and returns None, or leaves it alone and returns the reason why it was refused: the
job moved on meanwhile, and the caller's late word no longer counts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from towpath.core.encoding import encode
from towpath.core.lifecycle import ENDING_EVENT, TABLE, State
from towpath.core.outcomes import Failure
from towpath.core.reactions import RETRY_LATER_CAP
from towpath.core.records import Job
from towpath.core.transitions import Transition
from towpath.core.working_set import WorkingSet

# Waits that end in the operation being entered again when their deadline passes; every other wait fails.
TIMERS = frozenset({"sleep", "signal", "provider_call", "budget"})


def perform(working: WorkingSet, transition: Transition) -> str | None:
    """Performs one transition. None: it happened. A string: it was refused, and this is why."""
    job = working.jobs.get(transition.job_id)
    if job is None:
        return "the job does not exist"
    if transition.verb != "handler_ended":
        verb = TABLE[transition.verb]
        if job.state not in verb.sources:
            return f"the job is {job.state.value}, {transition.verb} needs {_names(verb.sources)}"
        if verb.fenced and transition.attempt != job.attempt:
            return f"attempt {transition.attempt} was superseded by attempt {job.attempt}"
    refused = _VERBS[transition.verb](working, job, transition)
    if refused is None:
        working.new_jobs.extend(transition.follow_ups)
    return refused


def _names(states: frozenset[State]) -> str:
    return " or ".join(state.value for state in State if state in states)


def _end(working: WorkingSet, job: Job, state: State, *, keep_lease: bool = False, **event: Any) -> None:
    """Every ending passes through here: the state, the event and the parent's counter belong together."""
    working.tell_counts(job)
    job.state = state
    job.ready = job.parked = False
    job.reason = job.run_at = job.deadline = None
    job.finished_at = working.now
    if job.gate:
        working.gates.add((job.queue, job.lane))
    if not keep_lease:
        _leave(working, job)
    if state in (State.SUCCEEDED, State.PARTIAL):
        job.error_json = job.error_kind = job.error_group = None  # of an attempt that no longer matters
    working.note(job, ENDING_EVENT[state], **event)
    working.stamps.pop(job.id, None)
    parent = working.parent_of(job)
    if parent is not None:
        _count(parent, job, +1)
        working.counted(parent)
        _child_ended(working, parent, job)


def _count(parent: Job, child: Job, change: int) -> None:
    match child.state:
        case State.SUCCEEDED:
            parent.children_ok += change
        case State.PARTIAL:
            parent.children_partial += change
        case State.FAILED | State.CANCELLED:
            parent.children_bad += change
    _follow_children(parent)


def _follow_children(parent: Job) -> None:
    """A parent that reports no progress of its own shows its children's."""
    if parent.children_total == 0:
        return
    if parent.progress_total is None or parent.progress_total == parent.children_total:
        parent.progress_current, parent.progress_total = float(parent.children_ended), float(parent.children_total)


def _child_ended(working: WorkingSet, parent: Job, child: Job) -> None:
    if parent.await_group == child.child_group and parent.await_open > 0:
        parent.await_open -= 1
        if parent.await_open == 0 and not parent.closing:
            wake(working, parent, "children")
            return
    if parent.closing and parent.state is State.WAITING and parent.children_open == 0:
        _close(working, parent)


def _close(working: WorkingSet, parent: Job) -> None:
    """All children have ended: all ok is succeeded, some is partial, none is failed."""
    total, good = parent.children_total, parent.children_ok
    if good == total:
        _end(working, parent, State.SUCCEEDED, fields={"children": total})
    elif good + parent.children_partial > 0:
        message = f"{total - good} of {total} children did not fully succeed"
        _end(working, parent, State.PARTIAL, message=message, level="warning")
    else:
        failure = Failure("children", "ChildrenFailed", f"none of {total} children succeeded", "requeue the failed children")
        _record(parent, failure)
        _end(working, parent, State.FAILED, message=failure.message, level="error", fields=failure.as_dict())


def wake(working: WorkingSet, job: Job, reason: str) -> None:
    """Whatever can wake a job counts here, so that a defer that comes later sees that something has happened."""
    job.wakes += 1
    if job.state is State.WAITING and not job.closing:
        _resume(working, job, reason)


def _resume(working: WorkingSet, job: Job, reason: str) -> None:
    working.tell_counts(job)
    _leave(working, job)
    working.admit(job, fresh=False)
    working.note(job, "job.resumed", fields={"reason": reason})


def _record(job: Job, failure: Failure) -> None:
    job.error_json = encode(failure.as_dict())
    job.error_kind = failure.kind
    job.error_group = failure.group


def _leave(working: WorkingSet, job: Job) -> None:
    """The worker lets go of the job."""
    working.unlease(job)
    job.worker_id = None


def _succeed(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if job.children_open > 0:
        t.closing = True
        return _defer(working, job, t)
    job.result_json = t.result_json
    _end(working, job, State.SUCCEEDED)
    return None


def _finish_partial(working: WorkingSet, job: Job, t: Transition) -> str | None:
    job.result_json = t.result_json
    # First its own end: the last child to go must find a parent that neither waits for it nor is closed by it.
    _end(working, job, State.PARTIAL, message=t.message, level="warning")
    _cancel_children(working, job, "the parent ended")
    return None


def _fail(working: WorkingSet, job: Job, t: Transition) -> str | None:
    assert t.failure is not None
    job.failures += 1
    _give_up(working, job, t.failure)
    return None


def _give_up(working: WorkingSet, job: Job, failure: Failure) -> None:
    _record(job, failure)
    fields = failure.as_dict() | {"failures": job.failures}
    _end(working, job, State.FAILED, message=failure.message, level="error", fields=fields)
    _cancel_children(working, job, "the parent failed")


def _defer(working: WorkingSet, job: Job, t: Transition) -> str | None:
    _leave(working, job)
    job.deadline = t.deadline or working.now + timedelta(seconds=t.max_wait or 7 * 86400)
    job.reason = "children" if t.closing else t.reason
    job.state = State.WAITING
    if t.closing:
        job.closing = True
        job.result_json = t.result_json
        _follow_children(job)
    working.note(job, "job.waiting", fields={"reason": job.reason} | _counters(job))
    if t.closing:
        if job.children_open == 0:
            _close(working, job)
    elif job.wakes > t.wakes_seen:
        _resume(working, job, "woken")
    return None


def _poll(working: WorkingSet, job: Job, t: Transition) -> str | None:
    """A lease for whoever works on a waiting job from outside; a new fence, so that an older one writes nothing more."""
    if job.leased and job.lease_until is not None and job.lease_until > working.now:
        return f"{job.worker_id} is polling it"
    job.attempt += 1
    job.leased, job.worker_id = True, t.reason
    job.lease_until = working.now + timedelta(seconds=t.delay)
    working.note(job, "job.polled")
    return None


def _do_resume(working: WorkingSet, job: Job, t: Transition) -> str | None:
    job.wakes += 1
    _resume(working, job, t.reason or "asked")
    return None


def _retry(working: WorkingSet, job: Job, t: Transition) -> str | None:
    assert t.failure is not None
    job.failures += 1
    _record(job, t.failure)
    _leave(working, job)
    working.admit(job, fresh=False, delay=t.delay, reason="retry")
    fields = t.failure.as_dict() | {"failures": job.failures, "delay": round(t.delay, 3)}
    working.note(job, "job.retry_scheduled", message=t.failure.message, level="warning", fields=fields)
    return None


def _retry_later(working: WorkingSet, job: Job, t: Transition) -> str | None:
    job.retry_laters += 1
    if job.retry_laters >= RETRY_LATER_CAP:
        failure = Failure(
            t.reason or "retry_later",
            "RetryLater",
            f"came back {job.retry_laters} times and still could not run: {t.message}",
            "free what it waits for, then requeue",
        )
        _give_up(working, job, failure)
        return None
    _leave(working, job)
    working.admit(job, fresh=False, delay=t.delay, reason=t.reason or "retry_later")
    working.note(job, "job.retry_later", message=t.message, fields={"delay_seconds": t.delay, "reason": job.reason})
    return None


def _release(working: WorkingSet, job: Job, t: Transition) -> str | None:
    _leave(working, job)
    working.admit(job, fresh=False, delay=t.delay, reason=t.reason)
    working.note(job, "job.released", fields={"reason": t.reason or "shutdown"})
    return None


def _rescue(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if not job.leased or job.lease_until is None or working.now < job.lease_until <= (t.deadline or job.lease_until):
        return "its lease is still good"
    job.failures += 1
    _leave(working, job)
    if job.failures >= job.max_attempts:
        failure = Failure(
            "crashed",
            "WorkerLost",
            f"its worker stopped answering during attempt {job.attempt}, and that was failure {job.failures}",
            "look at the worker's log for a crash or a kill at that time, then requeue",
        )
        _give_up(working, job, failure)
        return None
    # Backoff even here: a job that kills its worker must not do so in a tight loop.
    working.admit(job, fresh=False, delay=min(60.0, 2.0 ** min(job.failures - 1, 6) - 1), reason="retry")
    working.note(job, "job.rescued", level="warning", fields={"failures": job.failures})
    return None


def _expire(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if job.deadline is None or job.deadline > working.now:
        return "its deadline is still ahead"
    if job.reason in TIMERS:
        job.wakes += 1
        _resume(working, job, job.reason or "timer")
        return None
    job.failures += 1
    failure = Failure(
        "wait_expired",
        "WaitExpired",
        f"waited for {job.reason} until its deadline",
        "see what it was waiting for, then requeue",
    )
    _give_up(working, job, failure)
    return None


def _cancel(working: WorkingSet, job: Job, t: Transition) -> str | None:
    # The lease stays: until the worker says the handler has ended, a requeue must not start a second one.
    _end(working, job, State.CANCELLED, keep_lease=job.leased, message=t.message, fields={"leased": job.leased})
    _cancel_children(working, job, "the parent was cancelled")
    return None


def _cancel_children(working: WorkingSet, job: Job, message: str) -> None:
    for child in working.children_of(job):
        if child.live:
            _end(working, child, State.CANCELLED, keep_lease=child.leased, message=message, fields={"leased": child.leased})
            _cancel_children(working, child, message)


def _requeue(working: WorkingSet, job: Job, t: Transition) -> str | None:
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
        _count(job, child, -1)
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


def _counters(job: Job) -> dict[str, Any]:
    return job.counters() if job.children_total else {}


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
        _count(parent, child, -1)
        parent.children_total -= 1
        child.parent_id, child.child_group, child.root_id = None, None, child.id
    if follows:
        parent.progress_current = parent.progress_total = None
        _follow_children(parent)


def _uncount(working: WorkingSet, parent: Job, child: Job) -> None:
    """The child will end again, so its first ending no longer counts; a parent that had ended is open again."""
    _count(parent, child, -1)
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
    working.note(job, "job.reopened", fields={"failures": 0} | _counters(job))


def _handler_ended(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if not job.leased or job.attempt != t.attempt or job.state is State.RUNNING:
        return "it holds no such lease"
    working.unlease(job)
    job.worker_id = None
    if job.state is State.QUEUED and job.reason == "ending":
        working.admit(job, fresh=True)
    return None


_VERBS: dict[str, Callable[[WorkingSet, Job, Transition], str | None]] = {
    "succeed": _succeed,
    "finish_partial": _finish_partial,
    "fail": _fail,
    "defer": _defer,
    "poll": _poll,
    "resume": _do_resume,
    "retry": _retry,
    "retry_later": _retry_later,
    "release": _release,
    "rescue": _rescue,
    "expire": _expire,
    "cancel": _cancel,
    "requeue": _requeue,
    "handler_ended": _handler_ended,
}
