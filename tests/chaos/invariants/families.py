"""I6: parents and children agree about each other."""

import json
from collections import Counter
from collections.abc import Iterator

from tests.chaos.history import History
from tests.chaos.violation import Violation, broken
from towpath.core.history import fold
from towpath.core.lifecycle import STATE_AFTER, TERMINAL, State
from towpath.core.records import Job


def _children(history: History) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = {}
    for job in history.jobs.values():
        if job.parent_id is not None:
            found.setdefault(job.parent_id, []).append(job)
    return found


def children_are_counted_once(history: History) -> Iterator[Violation]:
    """I6: the parent's counters are what counting its children gives."""
    families = _children(history)
    for parent_id in families.keys() - history.jobs.keys():
        yield broken("I6", families[parent_id][0], f"its parent {parent_id} does not exist")
    for job in history.jobs.values():
        children = families.get(job.id, [])
        states = Counter(child.state for child in children)
        counted = {
            "children_total": len(children),
            "children_ok": states[State.SUCCEEDED],
            "children_partial": states[State.PARTIAL],
            "children_bad": states[State.FAILED] + states[State.CANCELLED],
        }
        for name, number in counted.items():
            if getattr(job, name) != number:
                told = [event for event in history.of(job.id) if event.name in ("job.spawned", "job.children")]
                yield broken("I6", job, f"{name} says {getattr(job, name)}, its children say {number}", told[-3:])


def parents_end_with_their_children(history: History) -> Iterator[Violation]:
    """I6: a parent that has ended has no child that has not, and at its ending it knew of all of them."""
    families = _children(history)
    for job in history.jobs.values():
        for child in families.get(job.id, []):
            if job.ended and not child.ended:
                yield broken("I6", job, f"has ended, its child {child.id} is {child.state.value}", history.of(child.id)[-2:])
        events = history.of(job.id)
        for event in events:
            if STATE_AFTER.get(event.name) in TERMINAL:
                # A parent that is cancelled or fails ends first and counts its children after it, in one transaction:
                # the events of one transaction have one time.
                known = fold(item for item in events if item.seq <= event.seq or item.ts == event.ts)
                ended = known.children_ok + known.children_partial + known.children_bad
                if ended != known.children_total:
                    message = f"ended when {ended} of its {known.children_total} children had"
                    yield broken("I6", job, message, [item for item in events if item.seq <= event.seq][-4:])
        yield from _gathered_all(job, history)


def _gathered_all(job: Job, history: History) -> Iterator[Violation]:
    """A parent that waited for its children got an answer from each."""
    result = json.loads(job.result_json) if job.result_json else None
    gathered = result.get("gathered") if isinstance(result, dict) else None
    if job.state is State.SUCCEEDED and gathered is not None and gathered != job.children_total:
        message = f"went on with {gathered} of {job.children_total} children"
        yield broken("I6", job, message, history.of(job.id)[-4:])
