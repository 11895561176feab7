"""The counts of a transaction: levels from the rows, flows from the events."""

from datetime import timedelta

from tests.core.trials import BROKEN, NOW, Trial, child, queued, running, waiting
from towpath.core import transitions
from towpath.core.count_deltas import CountDelta, count_changes, count_new


def counted(trial: Trial) -> list[CountDelta]:
    return count_changes(trial.working_set.changes(), trial.working_set.events, trial.working_set.jobs)


def test_a_success_is_one_running_less_and_one_succeeded_more_with_its_time():
    trial = Trial(running(started_at=NOW - timedelta(seconds=5)))
    trial.does(transitions.succeed("job", 1, None))
    assert counted(trial) == [CountDelta("q", "op", succeeded=1, running=-1, run_seconds=5.0, runs=[5.0])]


def test_each_ending_of_a_cascade_tells_its_own_time():
    trial = Trial(
        waiting("parent", closing=True, children_total=3, started_at=NOW - timedelta(seconds=9)),
        child("parent", running("a", operation="op", started_at=NOW - timedelta(seconds=2.5))),
        child("parent", queued("b", operation="op")),
    )
    trial.does(transitions.cancel("parent"))
    [counts] = counted(trial)
    assert (counts.run_seconds, sorted(counts.runs)) == (11.5, [2.5, 9.0])


def test_a_retry_is_one_running_less_and_one_queued_more():
    trial = Trial(running())
    trial.does(transitions.retry("job", 1, BROKEN, 0))
    assert counted(trial) == [CountDelta("q", "op", retried=1, running=-1, queued=1)]


def test_a_wait_moves_between_levels_only():
    trial = Trial(running())
    trial.does(transitions.defer("job", 1, "sleep", wakes_seen=0, deadline=None, max_wait=60))
    assert counted(trial) == [CountDelta("q", "op", running=-1, waiting=1)]


def test_a_defer_that_was_woken_meanwhile_ends_up_queued():
    trial = Trial(running(wakes=1))
    trial.does(transitions.defer("job", 1, "sleep", wakes_seen=0, deadline=None, max_wait=60))
    assert counted(trial) == [CountDelta("q", "op", running=-1, queued=1)]


def test_a_cascade_is_counted_per_queue_and_operation():
    trial = Trial(
        waiting("parent", closing=True, children_total=2),
        child("parent", queued("a", operation="leaf")),
        child("parent", queued("b", operation="leaf", queue="other")),
    )
    trial.does(transitions.cancel("parent"))
    assert sorted(counted(trial), key=lambda one: (one.queue, one.operation)) == [
        CountDelta("other", "leaf", cancelled=1, queued=-1),
        CountDelta("q", "leaf", cancelled=1, queued=-1),
        CountDelta("q", "op", cancelled=1, waiting=-1, runs=[0.0]),
    ]


def test_what_changes_no_state_is_not_counted():
    trial = Trial(waiting())
    trial.does(transitions.poll("job", "w", 30))
    assert counted(trial) == []


def test_new_jobs_are_counted_together():
    assert count_new([("q", "a"), ("q", "a"), ("q", "b")]) == [
        CountDelta("q", "a", created=2, queued=2),
        CountDelta("q", "b", created=1, queued=1),
    ]
