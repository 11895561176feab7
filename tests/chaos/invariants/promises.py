"""I1: what was acknowledged is kept, and kept once."""

import json
from collections.abc import Iterator
from typing import Any

from tests.chaos.history import History
from tests.chaos.violation import Violation, broken
from towpath.core.lifecycle import State
from towpath.core.records import Job

_LEFT_BY = {"cancel": ("job.cancelled",), "requeue": ("job.requeued", "job.reopened"), "signal": ("job.signalled",)}


def acknowledged_work_is_kept(history: History) -> Iterator[Violation]:
    """I1: every acknowledged enqueue exists; everything that exists has ended; what clients were told has happened."""
    for ack in history.seen("ack"):
        assert ack.job is not None
        job = history.jobs.get(ack.job)
        if job is None:
            yield broken("I1", ack.job, f"was acknowledged ({ack.facts['what']}) and does not exist")
            continue
        names = _LEFT_BY.get(ack.facts["what"])
        if names and not any(event.name in names for event in history.of(job.id)):
            yield broken("I1", job, f"its {ack.facts['what']} was acknowledged and left no event", history.of(job.id)[-3:])
    for job in history.jobs.values():
        if not job.ended:
            told = f"is {job.state.value} ({job.reason}) after quiescence"
            yield broken("I1", job, told, history.of(job.id)[-4:])


def nothing_is_doubled(history: History) -> Iterator[Violation]:
    """I1: each enqueue made at most one job, each success at most one follow-up."""
    seen: dict[str, Job] = {}
    for job in history.jobs.values():
        token = _facts(job.payload_json).get("token")
        if token is None:
            continue
        if token in seen:
            yield broken("I1", job, f"is a second job for {token!r}; the first is {seen[token].id}", history.of(job.id)[:1])
        seen[token] = job
    yield from _follow_ups(history)


def _follow_ups(history: History) -> Iterator[Violation]:
    """A follow-up exists exactly when the job that asked for it has succeeded."""
    followed: dict[str, Job] = {}
    for job in history.jobs.values():
        origin = _facts(job.payload_json).get("follows")
        if origin is None:
            continue
        if origin in followed:
            yield broken("I1", job, f"is a second follow-up of {origin}", history.of(job.id)[:1])
        followed[origin] = job
        before = history.jobs.get(origin)
        if before is None or before.state is not State.SUCCEEDED:
            yield broken("I1", job, f"follows {origin}, which did not succeed", history.of(origin)[-2:])
    for job in history.jobs.values():
        if job.state is State.SUCCEEDED and _facts(job.result_json).get("follow_up") and job.id not in followed:
            yield broken("I1", job, "succeeded, and its follow-up is missing", history.of(job.id)[-2:])


def _facts(text: str | None) -> dict[str, Any]:
    value = json.loads(text) if text else None
    return value if isinstance(value, dict) else {}
