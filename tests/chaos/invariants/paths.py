"""I3, I4, I7, I8: what one job's own events may say."""

from collections.abc import Iterator

from tests.chaos.history import History
from tests.chaos.violation import Violation, broken
from towpath.core.history import differences, fold
from towpath.core.lifecycle import ENDING_EVENT, STATE_AFTER, TABLE, TERMINAL, State
from towpath.core.records import Event

_REBIRTHS = frozenset({"job.requeued", "job.reopened"})


def _legal() -> dict[str, frozenset[State]]:
    """From the lifecycle table: which states each state-changing event may come from."""
    found: dict[str, frozenset[State]] = {}
    for verb in TABLE.values():
        for target in verb.targets:
            event = ENDING_EVENT.get(target, verb.event)
            found[event] = found.get(event, frozenset()) | verb.sources
    return found


LEGAL = _legal()


def walk(events: list[Event]) -> Iterator[tuple[State | None, Event]]:
    """Every event with the state the job was in when it was written, as told by the events before it."""
    state: State | None = None
    for event in events:
        yield state, event
        state = STATE_AFTER.get(event.name, state)


def endings_are_final(history: History) -> Iterator[Violation]:
    """I3: one terminal event per ending; only a requeue or a reopen leads out of a terminal state."""
    for job in history.jobs.values():
        before: Event | None = None
        for state, event in walk(history.of(job.id)):
            if event.name not in STATE_AFTER:
                continue
            if state in TERMINAL and event.name not in _REBIRTHS and before is not None:
                yield broken("I3", job, f"{event.name} came after {before.name} without a requeue", (before, event))
            before = event


def events_are_a_legal_path(history: History) -> Iterator[Violation]:
    """I4: seq has no gaps, the first event is the creation, each change of state is in the lifecycle table."""
    for job in history.jobs.values():
        events = history.of(job.id)
        if not events or events[0].name != "job.created":
            yield broken("I4", job, "its history does not begin with job.created", events[:1])
        for number, event in enumerate(events, 1):
            if event.seq != number:
                yield broken(
                    "I4", job, f"event {number} has seq {event.seq}: one is missing", events[max(0, number - 2) : number]
                )
                break
        for state, event in walk(events):
            if event.name in LEGAL and event.seq != 1 and state not in LEGAL[event.name]:
                if state in TERMINAL:
                    continue  # I3 tells that one
                yield broken("I4", job, f"{event.name} is not possible while {state}", [event])


def the_row_is_its_history(history: History) -> Iterator[Violation]:
    """I4: folding the events gives the row."""
    for job in history.jobs.values():
        events = history.of(job.id)
        for difference in differences(job, fold(events)):
            yield broken("I4", job, difference, events[-3:])
    for job_id in history.events.keys() - history.jobs.keys():
        yield broken("I4", job_id, "has events and no row", history.of(job_id)[:1])


def cancelled_is_not_overwritten(history: History) -> Iterator[Violation]:
    """I7: what was cancelled does not succeed, unless it was requeued."""
    for job in history.jobs.values():
        cancelled: Event | None = None
        for event in history.of(job.id):
            if event.name == "job.cancelled":
                cancelled = event
            elif event.name in _REBIRTHS:
                cancelled = None
            elif event.name in ("job.succeeded", "job.partial") and cancelled is not None:
                yield broken("I7", job, "was cancelled and succeeded all the same", (cancelled, event))


def progress_goes_forward(history: History) -> Iterator[Violation]:
    """I8: within an attempt progress never goes back, and it never exceeds its total."""
    for job in history.jobs.values():
        last: Event | None = None
        for event in history.of(job.id):
            fields = event.fields or {}
            if not event.name.startswith("job.") or "current" not in fields:
                continue
            current, total = fields["current"], fields.get("of")
            if current is not None and total is not None and current > total:
                yield broken("I8", job, f"progress {current} is beyond its total {total}", [event])
            if event.name != "job.progress" or current is None:
                continue
            if last is not None and last.attempt == event.attempt and current < (last.fields or {})["current"]:
                yield broken("I8", job, "progress went back within one attempt", (last, event))
            last = event
