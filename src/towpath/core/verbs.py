"""The verbs of the lifecycle, performed on a WorkingSet.

In Python a job's state is changed here, in `endings.py` and `requeueing.py`, which are parts of it, and in
`WorkingSet.admit`, which puts a job into its queue, and nowhere else. Two changes are made by SQL alone, because every job
passes through them: `claim`, and the plain success of a job without relatives and caps. Those statements are `turn.sql` on
PostgreSQL and `procedures.sql` on SQLite. They take their states from the table of verbs, and tests compare what they leave
behind with what is done here.

Each verb either changes the working set and returns None, or leaves it alone and returns the reason why it was refused: the
job moved on meanwhile, and the caller's late word no longer counts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from towpath.core import endings, requeueing, waking
from towpath.core.lifecycle import TABLE, State
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


def _succeed(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if job.children_open > 0:
        t.closing = True
        return _defer(working, job, t)
    job.result_json = t.result_json
    endings.end(working, job, State.SUCCEEDED)
    return None


def _finish_partial(working: WorkingSet, job: Job, t: Transition) -> str | None:
    job.result_json = t.result_json
    # First its own end: the last child to go must find a parent that neither waits for it nor is closed by it.
    endings.end(working, job, State.PARTIAL, message=t.message, level="warning")
    endings.cancel_children(working, job, "the parent ended")
    return None


def _fail(working: WorkingSet, job: Job, t: Transition) -> str | None:
    assert t.failure is not None
    job.failures += 1
    endings.give_up(working, job, t.failure)
    return None


def _defer(working: WorkingSet, job: Job, t: Transition) -> str | None:
    working.unlease(job)
    job.deadline = t.deadline or working.now + timedelta(seconds=t.max_wait or 7 * 86400)
    job.reason = "children" if t.closing else t.reason
    job.state = State.WAITING
    if t.closing:
        job.closing = True
        job.result_json = t.result_json
        endings.follow_children(job)
    working.note(job, "job.waiting", fields={"reason": job.reason} | endings.counters(job))
    if t.closing:
        if job.children_open == 0:
            endings.close(working, job)
    elif job.wakes > t.wakes_seen:
        waking.resume(working, job, "woken")
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
    waking.resume(working, job, t.reason or "asked")
    return None


def _retry(working: WorkingSet, job: Job, t: Transition) -> str | None:
    assert t.failure is not None
    job.failures += 1
    endings.record(job, t.failure)
    working.unlease(job)
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
        endings.give_up(working, job, failure)
        return None
    working.unlease(job)
    working.admit(job, fresh=False, delay=t.delay, reason=t.reason or "retry_later")
    working.note(job, "job.retry_later", message=t.message, fields={"delay_seconds": t.delay, "reason": job.reason})
    return None


def _release(working: WorkingSet, job: Job, t: Transition) -> str | None:
    working.unlease(job)
    working.admit(job, fresh=False, delay=t.delay, reason=t.reason)
    working.note(job, "job.released", fields={"reason": t.reason or "shutdown"})
    return None


def _rescue(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if not job.leased or job.lease_until is None or working.now < job.lease_until <= (t.deadline or job.lease_until):
        return "its lease is still good"
    job.failures += 1
    working.unlease(job)
    if job.failures >= job.max_attempts:
        failure = Failure(
            "crashed",
            "WorkerLost",
            f"its worker stopped answering during attempt {job.attempt}, and that was failure {job.failures}",
            "look at the worker's log for a crash or a kill at that time, then requeue",
        )
        endings.give_up(working, job, failure)
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
        waking.resume(working, job, job.reason or "timer")
        return None
    job.failures += 1
    failure = Failure(
        "wait_expired",
        "WaitExpired",
        f"waited for {job.reason} until its deadline",
        "see what it was waiting for, then requeue",
    )
    endings.give_up(working, job, failure)
    return None


def _cancel(working: WorkingSet, job: Job, t: Transition) -> str | None:
    # The lease stays: until the worker says the handler has ended, a requeue must not start a second one.
    endings.end(working, job, State.CANCELLED, keep_lease=job.leased, message=t.message, fields={"leased": job.leased})
    endings.cancel_children(working, job, "the parent was cancelled")
    return None


def _handler_ended(working: WorkingSet, job: Job, t: Transition) -> str | None:
    if not job.leased or job.attempt != t.attempt or job.state is State.RUNNING:
        return "it holds no such lease"
    working.unlease(job)
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
    "requeue": requeueing.requeue,
    "handler_ended": _handler_ended,
}
