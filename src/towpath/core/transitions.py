"""What callers ask for: one named constructor per verb of the lifecycle table. `verbs.py` performs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from towpath.core.outcomes import Failure
from towpath.core.records import NewJob


@dataclass(slots=True)
class Transition:
    verb: str
    job_id: str
    attempt: int | None = None
    result_json: str | None = None
    failure: Failure | None = None
    message: str | None = None
    reason: str | None = None
    delay: float = 0.0
    deadline: datetime | None = None
    max_wait: float | None = None
    wakes_seen: int = 0
    closing: bool = False
    payload_json: str | None = None
    keep_steps: bool = False
    follow_ups: Sequence[NewJob] = ()
    solo: bool = False  # a plain success that touches no other row: the stores have a short way for it


def succeed(
    job_id: str,
    attempt: int,
    result_json: str | None,
    *,
    follow_ups: Sequence[NewJob] = (),
    solo: bool = False,
) -> Transition:
    return Transition("succeed", job_id, attempt, result_json, follow_ups=follow_ups, solo=solo and not follow_ups)


def finish_partial(
    job_id: str, attempt: int, result_json: str | None, warning: str | None, *, follow_ups: Sequence[NewJob] = ()
) -> Transition:
    return Transition("finish_partial", job_id, attempt, result_json, message=warning, follow_ups=follow_ups)


def fail(job_id: str, attempt: int, failure: Failure) -> Transition:
    return Transition("fail", job_id, attempt, failure=failure)


def defer(
    job_id: str, attempt: int, reason: str, *, wakes_seen: int, deadline: datetime | None, max_wait: float
) -> Transition:
    return Transition("defer", job_id, attempt, reason=reason, wakes_seen=wakes_seen, deadline=deadline, max_wait=max_wait)


def close_with_children(
    job_id: str, attempt: int, result_json: str | None, max_wait: float, *, follow_ups: Sequence[NewJob] = ()
) -> Transition:
    """The operation is done and its spawned children end the job."""
    return Transition("defer", job_id, attempt, result_json, closing=True, max_wait=max_wait, follow_ups=follow_ups)


def poll(job_id: str, worker_id: str, lease_seconds: float) -> Transition:
    return Transition("poll", job_id, reason=worker_id, delay=lease_seconds)


def resume(job_id: str, reason: str) -> Transition:
    return Transition("resume", job_id, reason=reason)


def retry(job_id: str, attempt: int, failure: Failure, delay: float) -> Transition:
    return Transition("retry", job_id, attempt, failure=failure, delay=delay)


def retry_later(job_id: str, attempt: int, reason: str, message: str, delay: float) -> Transition:
    return Transition("retry_later", job_id, attempt, reason=reason, message=message, delay=delay)


def release(job_id: str, attempt: int, reason: str | None = None, delay: float = 0.0) -> Transition:
    return Transition("release", job_id, attempt, reason=reason, delay=delay)


def rescue(job_id: str, attempt: int, beyond: datetime | None = None) -> Transition:
    """For a lease that has run out, or that ends after `beyond`: no lease is that long, so the clock was moved back since it
    was given."""
    return Transition("rescue", job_id, attempt, deadline=beyond)


def expire(job_id: str, attempt: int) -> Transition:
    return Transition("expire", job_id, attempt)


def cancel(job_id: str, message: str | None = None) -> Transition:
    return Transition("cancel", job_id, message=message)


def requeue(job_id: str, *, payload_json: str | None = None, keep_steps: bool = False) -> Transition:
    return Transition("requeue", job_id, payload_json=payload_json, keep_steps=keep_steps)


def handler_ended(job_id: str, attempt: int) -> Transition:
    """Not a verb: the worker's word that a cancelled job's handler is really gone, so its lease can go too."""
    return Transition("handler_ended", job_id, attempt)
