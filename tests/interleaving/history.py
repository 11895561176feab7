"""What must hold of every job after any interleaving, read from its row, its events and its relatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from towpath.core.history import differences, fold
from towpath.core.lifecycle import LIVE, STATE_AFTER, TABLE, TERMINAL, State
from towpath.core.records import Event, Job


def violations(jobs: Sequence[Job], events: Sequence[Event]) -> list[str]:
    """Every broken rule in words; an empty list is what the tests want."""
    by_job: dict[str, list[Event]] = {job.id: [] for job in jobs}
    for event in sorted(events, key=lambda item: item.seq):
        by_job[event.job_id].append(event)
    found = []
    for job in jobs:
        told = by_job[job.id]
        wrong = [*differences(job, fold(told)), *_gaps(told), *_illegal_path(told), *_fences(told), *_row(job)]
        wrong += _family(job, [other for other in jobs if other.parent_id == job.id])
        found += [f"{job.operation} {job.id[-4:]}: {words}" for words in wrong]
    return found + _keys(jobs)


def _gaps(events: list[Event]) -> list[str]:
    numbers = [event.seq for event in events]
    return [] if numbers == list(range(1, len(numbers) + 1)) else [f"its events are numbered {numbers}"]


def _illegal_path(events: list[Event]) -> list[str]:
    wrong = []
    state: State | None = None
    for event in events:
        after = STATE_AFTER.get(event.name)
        if after is None:
            continue
        if state is None:
            if event.name != "job.created":
                wrong.append(f"its history begins with {event.name}")
        elif not any(state in verb.sources and after in verb.targets for verb in TABLE.values()):
            wrong.append(f"{event.name} took it from {state.value} to {after.value}, which no verb allows")
        state = after
    return wrong


def _fences(events: list[Event]) -> list[str]:
    """Attempts never go back, each is started once, and only the latest one ends the job."""
    attempts = [event.attempt for event in events]
    wrong = [] if attempts == sorted(attempts) else [f"its attempts go {attempts}"]
    starts = Counter(event.attempt for event in events if event.name == "job.started")
    return wrong + [f"attempt {attempt} was started {times} times" for attempt, times in starts.items() if times > 1]


def _row(job: Job) -> list[str]:
    rules = {
        "ready, but not queued": job.ready and job.state is not State.QUEUED,
        "ready and scheduled at once": job.ready and job.run_at is not None,
        "parked outside a capped lane": job.parked and not job.gate,
        "running without a lease": job.state is State.RUNNING and not job.leased,
        "waiting without a deadline": job.state is State.WAITING and job.deadline is None,
        "queued, but nothing will ever make it ready": (
            job.state is State.QUEUED and not (job.ready or job.parked or job.run_at or job.leased)
        ),
        "ended without a time": job.state in TERMINAL and job.finished_at is None,
        "live, but with a time of ending": job.state in LIVE and job.finished_at is not None,
        "a negative count": min(job.children_ok, job.children_partial, job.children_bad, job.await_open) < 0,
    }
    return [words for words, broken in rules.items() if broken]


def _family(parent: Job, children: list[Job]) -> list[str]:
    """Each child's ending is counted once, no more and no less."""
    states = Counter(child.state for child in children)
    real = {
        "children_total": len(children),
        "children_ok": states[State.SUCCEEDED],
        "children_partial": states[State.PARTIAL],
        "children_bad": states[State.FAILED] + states[State.CANCELLED],
    }
    wrong = [f"{name} is {getattr(parent, name)}, really {n}" for name, n in real.items() if getattr(parent, name) != n]
    open_now = [child for child in children if child.live]
    if parent.ended and open_now:
        wrong.append(f"it has ended as {parent.state.value} with {len(open_now)} children still open")
    if parent.closing and parent.state is State.WAITING and not open_now:
        wrong.append("it waits for children that have all ended")
    if parent.live and parent.await_group is not None:
        awaited = sum(child.child_group == parent.await_group for child in open_now)
        if awaited != parent.await_open:
            wrong.append(f"await_open is {parent.await_open}, really {awaited}")
        if parent.state is State.WAITING and parent.reason == "children" and not awaited and not parent.closing:
            wrong.append("it waits for a group that has ended")
    return wrong


def _keys(jobs: Sequence[Job]) -> list[str]:
    live = Counter((job.tenant, job.operation, job.key) for job in jobs if job.live and job.key is not None)
    return [f"{count} live jobs share the key {key!r}" for (_, _, key), count in live.items() if count > 1]
