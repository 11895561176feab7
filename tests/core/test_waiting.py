"""Waiting and waking: whatever comes between a look and a defer is not lost."""

from datetime import timedelta

import pytest

from tests.core.trials import BROKEN, NOW, Trial, queued, running, waiting
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.core.waking import wake


def defer(wakes_seen: int = 0, reason: str = "signal", **options):
    return transitions.defer("job", 1, reason, wakes_seen=wakes_seen, max_wait=3600, **{"deadline": None, **options})


def test_a_deferred_job_waits_without_a_lease_until_its_deadline():
    job = Trial(running()).does(defer())
    assert (job.state, job.reason, job.deadline) == (State.WAITING, "signal", NOW + timedelta(hours=1))
    assert (job.leased, job.worker_id, job.failures) == (False, None, 0)


def test_a_deferral_with_its_own_deadline_keeps_it():
    instant = NOW + timedelta(minutes=1)
    assert Trial(running()).does(defer(deadline=instant, reason="sleep")).deadline == instant


def test_a_wake_between_the_look_and_the_defer_is_not_lost():
    trial = Trial(running(wakes=3))
    wake(trial.working_set, trial["job"], "signal go")
    job = trial.does(defer(wakes_seen=3))
    assert (job.state, job.ready, job.wakes) == (State.QUEUED, True, 4)
    assert trial.names() == ["job.waiting", "job.resumed"]
    assert trial.working_set.stamps == {"job": False}  # begun work keeps its place


def test_a_wake_that_was_seen_before_does_not_end_the_wait():
    assert Trial(running(wakes=3)).does(defer(wakes_seen=3)).state is State.WAITING


def test_a_wake_resumes_a_waiting_job_and_burns_no_budget():
    trial = Trial(waiting(failures=1))
    wake(trial.working_set, trial["job"], "signal go")
    job = trial["job"]
    assert (job.state, job.ready, job.failures, job.deadline, job.reason) == (State.QUEUED, True, 1, None, None)
    assert trial.events()[0].fields == {"reason": "signal go"}


def test_a_job_that_its_children_will_close_is_not_resumed_by_a_wake():
    trial = Trial(waiting(closing=True, children_total=1))
    wake(trial.working_set, trial["job"], "signal go")
    assert (trial["job"].state, trial["job"].wakes, trial.names()) == (State.WAITING, 1, [])


def test_resume_asks_for_the_job_to_be_entered_again():
    trial = Trial(waiting())
    job = trial.does(transitions.resume("job", "operator"))
    assert (job.state, job.wakes) == (State.QUEUED, 1)
    assert trial.events()[0].fields == {"reason": "operator"}


@pytest.mark.parametrize("reason", ["sleep", "signal"])
def test_a_timer_that_runs_out_enters_the_job_again(reason):
    job = Trial(waiting(reason=reason, deadline=NOW)).does(transitions.expire("job", 1))
    assert (job.state, job.wakes, job.failures) == (State.QUEUED, 1, 0)


def test_a_wait_for_somebody_else_that_runs_out_fails_the_job_with_the_reason():
    trial = Trial(waiting(reason="children", deadline=NOW))
    job = trial.does(transitions.expire("job", 1))
    assert (job.state, job.error_kind, job.failures) == (State.FAILED, "wait_expired", 1)
    assert "waited for children" in job.error["message"]


def test_a_deadline_that_lies_ahead_does_not_expire():
    assert "still ahead" in Trial(waiting()).refuses(transitions.expire("job", 1))


def test_poll_gives_the_one_who_works_on_it_from_outside_a_new_fence():
    trial = Trial(waiting(attempt=1))
    job = trial.does(transitions.poll("job", "reconciler", 30))
    assert (job.state, job.attempt, job.leased, job.worker_id) == (State.WAITING, 2, True, "reconciler")
    assert job.lease_until == NOW + timedelta(seconds=30)
    assert "superseded" in trial.refuses(transitions.succeed("job", 1, None))
    assert trial.does(transitions.succeed("job", 2, "1")).state is State.SUCCEEDED


def test_two_pollers_never_hold_one_job():
    trial = Trial(waiting())
    trial.does(transitions.poll("job", "first", 30))
    assert trial.refuses(transitions.poll("job", "second", 30)) == "first is polling it"


def test_a_poller_that_stopped_answering_is_replaced():
    stale = waiting(attempt=2, leased=True, worker_id="first", lease_until=NOW - timedelta(seconds=1))
    assert Trial(stale).does(transitions.poll("job", "second", 30)).worker_id == "second"


def test_a_resumed_job_belongs_to_nobody():
    held = waiting(attempt=2, leased=True, worker_id="poller", lease_until=NOW + timedelta(seconds=9))
    job = Trial(held).does(transitions.resume("job", "provider"))
    assert (job.leased, job.lease_until, job.worker_id) == (False, None, None)


def test_a_waiting_job_can_be_retried_or_failed_from_outside():
    assert Trial(waiting()).does(transitions.retry("job", 1, BROKEN, 0)).state is State.QUEUED
    assert Trial(waiting()).does(transitions.fail("job", 1, BROKEN)).state is State.FAILED


def test_a_wake_of_a_queued_job_only_counts():
    trial = Trial(queued())
    wake(trial.working_set, trial["job"], "early")
    assert (trial["job"].state, trial["job"].wakes, trial.names()) == (State.QUEUED, 1, [])
