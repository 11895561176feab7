"""The state machine is worth something only if it notices: each of these bugs was once made somewhere for real."""

import dataclasses

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import JobMachine
from tests.model.test_stores_follow_the_model import at_hand
from towpath.core import count_deltas, endings, waking
from towpath.core.lifecycle import TABLE, State
from towpath.core.working_set import WorkingSet


def forget_the_fence(patch: pytest.MonkeyPatch) -> None:
    """A late worker finishes a job that was given to another."""
    patch.setitem(TABLE, "fail", dataclasses.replace(TABLE["fail"], fenced=False))


def revive_the_cancelled(patch: pytest.MonkeyPatch) -> None:
    """Success is written over a cancel."""
    succeed = TABLE["succeed"]
    patch.setitem(TABLE, "succeed", dataclasses.replace(succeed, sources=succeed.sources | {State.CANCELLED}))


def count_a_child_twice(patch: pytest.MonkeyPatch) -> None:
    count = endings.count

    def twice(parent, child, change):
        count(parent, child, change)
        if child.state is State.PARTIAL:
            count(parent, child, change)

    patch.setattr(endings, "count", twice)


def cancel_the_children_first(patch: pytest.MonkeyPatch) -> None:
    """The last child closes a parent that is just ending by itself."""
    give_up, cancel_children = endings.give_up, endings.cancel_children

    def children_first(working, job, failure):
        cancel_children(working, job, "the parent failed")
        give_up(working, job, failure)

    patch.setattr(endings, "give_up", children_first)


def lose_a_wake_up(patch: pytest.MonkeyPatch) -> None:
    """A signal between the look and the defer is forgotten."""

    def deaf(working, job, reason):
        if job.state is State.WAITING:
            wake(working, job, reason)

    wake = waking.wake
    patch.setattr("towpath.store.journal.wake", deaf)


def drop_the_lease_with_the_cancel(patch: pytest.MonkeyPatch) -> None:
    """A requeue starts a second handler beside the first."""
    end = endings.end

    def let_go_at_once(working, job, state, *, keep_lease=False, **event):
        end(working, job, state, **event)

    patch.setattr(endings, "end", let_go_at_once)


def change_the_state_without_an_event(patch: pytest.MonkeyPatch) -> None:
    note = WorkingSet.note

    def forgetful(self, job, name, **event):
        if name != "job.resumed":
            note(self, job, name, **event)

    patch.setattr(WorkingSet, "note", forgetful)


def miscount_the_depth(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(count_deltas._LEVEL_OF, State.WAITING)


BUGS = [
    forget_the_fence,
    revive_the_cancelled,
    count_a_child_twice,
    cancel_the_children_first,
    lose_a_wake_up,
    drop_the_lease_with_the_cancel,
    change_the_state_without_an_event,
    miscount_the_depth,
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_machine_notices(bug, sqlite_url, monkeypatch):
    bug(monkeypatch)
    # Always the same tries, and no search for a shorter story: it is enough that it is found.
    steady = settings(
        settings.get_profile("quick"), derandomize=True, database=None, max_examples=300, phases=[Phase.generate]
    )
    with at_hand(sqlite_url) as (loop, hands):
        machine = type("WithABug", (JobMachine,), {"loop": loop, "hands": hands})
        with pytest.raises((AssertionError, RuntimeError, ExceptionGroup)):
            run_state_machine_as_test(machine, settings=steady)
