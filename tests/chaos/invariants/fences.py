"""I5, I9: only the attempt that holds the job writes, and what it has written stays."""

import json
from collections.abc import Iterator

from tests.chaos.history import History, by_job
from tests.chaos.invariants.paths import walk
from tests.chaos.violation import Violation, broken
from towpath.core.lifecycle import RUNNING, State
from towpath.core.records import Event, Job

_FENCED_ENDINGS = frozenset({"job.succeeded", "job.partial", "job.failed"})
_WRITTEN_BY_HANDLERS = frozenset({"job.progress", "job.spawned", "job.metered"})


def the_latest_claim_finishes(history: History) -> Iterator[Violation]:
    """I5: an ending carries the attempt of the latest claim, and so does the result that is kept."""
    for job in history.jobs.values():
        claim: Event | None = None
        for event in history.of(job.id):
            if event.name in ("job.started", "job.polled"):
                claim = event
            elif event.name in _FENCED_ENDINGS and claim is not None and event.attempt != claim.attempt:
                yield broken("I5", job, f"attempt {event.attempt} ended it, attempt {claim.attempt} held it", (claim, event))
        fence = _fence_in_result(job)
        if fence is not None and claim is not None and fence != claim.attempt:
            events = [event for event in history.of(job.id) if event.name in ("job.started", *_FENCED_ENDINGS)]
            yield broken("I5", job, f"its result is attempt {fence}'s, attempt {claim.attempt} held it", events)


def _fence_in_result(job: Job) -> int | None:
    if job.result_json is None or job.state not in (State.SUCCEEDED, State.PARTIAL):
        return None
    result = json.loads(job.result_json)
    return result.get("fence") if isinstance(result, dict) else None


def only_the_running_attempt_writes(history: History) -> Iterator[Violation]:
    """I5: whatever a handler writes, it writes while its own attempt is the running one."""
    for job in history.jobs.values():
        for state, event in walk(history.of(job.id)):
            by_handler = event.name in _WRITTEN_BY_HANDLERS or not event.name.startswith("job.")
            by_handler &= not _answers_a_wait(event)
            if by_handler and state is not RUNNING:
                yield broken("I5", job, f"{event.name} was written while the job was {state}", [event])
            fence = (event.fields or {}).get("fence")
            if fence is not None and fence != event.attempt:
                yield broken("I5", job, f"attempt {fence} wrote while attempt {event.attempt} held the job", [event])


def _answers_a_wait(event: Event) -> bool:
    """Whoever sends a signal to a job that waits for it records that it has come."""
    return event.name == "step.completed" and (event.fields or {}).get("kind") == "signal"


def recorded_steps_stay_recorded(history: History) -> Iterator[Violation]:
    """I9: a step whose record was committed is not run again, unless a requeue dropped the record."""
    runs = by_job(history.seen("step"))
    for job in history.jobs.values():
        events = history.of(job.id)
        started = {event.attempt: event.seq for event in events if event.name == "job.started"}
        for event in events:
            if event.name != "step.completed":
                continue
            name = (event.fields or {}).get("step")
            for run in runs.get(job.id, []):
                if run.facts["name"] != name or run.fence is None or run.fence <= event.attempt:
                    continue
                if not _dropped_between(events, event.seq, started.get(run.fence, 0)):
                    message = (
                        f"step {name!r} was on record since attempt {event.attempt} and ran again in attempt {run.fence}"
                    )
                    yield broken("I9", job, message, [event])
        yield from _run_twice_in_one_attempt(history, job, runs.get(job.id, []))
        yield from _recorded_twice(job, events)


def _run_twice_in_one_attempt(history: History, job: Job, runs: list) -> Iterator[Violation]:
    seen: set[tuple[str, int]] = set()
    for run in runs:
        key = (run.facts["name"], run.fence)
        if key in seen:
            yield broken("I9", job, f"step {key[0]!r} ran twice in attempt {key[1]}", history.of(job.id)[-5:])
        seen.add(key)


def _recorded_twice(job: Job, events: list[Event]) -> Iterator[Violation]:
    records: dict[str, Event] = {}
    for event in events:
        if event.name == "job.reopened" or _forgets(event):
            records.clear()
        elif event.name == "step.completed":
            name = (event.fields or {})["step"]
            if name in records:
                yield broken("I9", job, f"step {name!r} was recorded twice", (records[name], event))
            records[name] = event


def _dropped_between(events: list[Event], after: int, before: int) -> bool:
    """Whether the record may have been dropped: by an edited payload, or by a child that was requeued."""
    return any(after < event.seq < before and (event.name == "job.reopened" or _forgets(event)) for event in events)


def _forgets(event: Event) -> bool:
    return event.name == "job.requeued" and bool((event.fields or {}).get("edited"))
