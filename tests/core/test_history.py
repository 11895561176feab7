"""Folding the events of a job gives its row."""

import dataclasses

from tests.core.trials import queued
from towpath.core.history import Folded, differences, fold
from towpath.core.lifecycle import State
from towpath.core.records import Event


def event(seq: int, name: str, attempt: int = 1, **fields):
    return Event("job", seq, attempt, name, fields=fields or None)


STORY = [
    event(1, "job.created", 0),
    event(2, "job.started"),
    event(3, "job.progress", current=1.0, of=4.0),
    event(4, "job.retry_scheduled", failures=1),
    event(5, "job.started", 2),
    event(6, "job.spawned", 2, total=2, ok=0, partial=0, bad=0, current=1.0, of=4.0),
    event(7, "job.waiting", 2, reason="children"),
    event(8, "job.children", 2, total=2, ok=1, partial=0, bad=1, current=1.0, of=4.0),
    event(9, "job.partial", 2),
]


def test_the_events_tell_the_whole_row():
    assert fold(STORY) == Folded(
        state=State.PARTIAL, seq=9, attempt=2, failures=1, progress_current=1.0, progress_total=4.0,
        children_total=2, children_ok=1, children_partial=0, children_bad=1,
    )  # fmt: skip


def test_the_order_in_which_events_arrive_does_not_matter():
    assert fold(reversed(STORY)) == fold(STORY)


def test_an_event_of_the_operation_cannot_change_what_the_engine_tells():
    told = fold([*STORY, event(10, "invoice.paid", 2, failures=99, total=99)])
    assert (told.failures, told.children_total) == (1, 2)


def test_a_requeue_tells_that_the_budget_is_fresh():
    assert fold([*STORY, event(10, "job.requeued", 2, failures=0)]).failures == 0


def test_a_row_that_agrees_with_its_events_has_no_differences():
    folded = fold(STORY)
    assert differences(queued(**dataclasses.asdict(folded)), folded) == []


def test_every_field_that_disagrees_is_named():
    folded = fold(STORY)
    for name in Folded.__dataclass_fields__:
        lying = queued(**dataclasses.asdict(folded) | {name: State.CANCELLED if name == "state" else 77})
        [difference] = differences(lying, folded)
        assert difference.startswith(f"{name}: the row says")
