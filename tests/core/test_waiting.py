"""Waiting and waking: whatever comes between a look and a defer is not lost."""

from datetime import timedelta

import pytest

from tests.core.boards import BROKEN, NOW, Play, queued, running, waiting
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.core.verbs import wake


def defer(wakes_seen: int = 0, reason: str = "signal", **options):
    return transitions.defer("job", 1, reason, wakes_seen=wakes_seen, max_wait=3600, **{"deadline": None, **options})


def test_a_deferred_job_waits_without_a_lease_until_its_deadline():
    job = Play(running()).does(defer())
    assert (job.state, job.reason, job.deadline) == (State.WAITING, "signal", NOW + timedelta(hours=1))
    assert (job.leased, job.worker_id, job.failures) == (False, None, 0)


def test_a_deferral_with_its_own_deadline_keeps_it():
    instant = NOW + timedelta(minutes=1)
    assert Play(running()).does(defer(deadline=instant, reason="sleep")).deadline == instant


def test_a_wake_between_the_look_and_the_defer_is_not_lost():
    play = Play(running(wakes=3))
    wake(play.working, play["job"], "signal go")
    job = play.does(defer(wakes_seen=3))
    assert (job.state, job.ready, job.wakes) == (State.QUEUED, True, 4)
    assert play.names() == ["job.waiting", "job.resumed"]
    assert play.working.stamps == {"job": False}  # begun work keeps its place


def test_a_wake_that_was_seen_before_does_not_end_the_wait():
    assert Play(running(wakes=3)).does(defer(wakes_seen=3)).state is State.WAITING


def test_a_wake_resumes_a_waiting_job_and_burns_no_budget():
    play = Play(waiting(failures=1))
    wake(play.working, play["job"], "signal go")
    job = play["job"]
    assert (job.state, job.ready, job.failures, job.deadline, job.reason) == (State.QUEUED, True, 1, None, None)
    assert play.events()[0].fields == {"reason": "signal go"}


def test_a_job_that_its_children_will_close_is_not_resumed_by_a_wake():
    play = Play(waiting(closing=True, children_total=1))
    wake(play.working, play["job"], "signal go")
    assert (play["job"].state, play["job"].wakes, play.names()) == (State.WAITING, 1, [])


def test_resume_asks_for_the_job_to_be_entered_again():
    play = Play(waiting())
    job = play.does(transitions.resume("job", "operator"))
    assert (job.state, job.wakes) == (State.QUEUED, 1)
    assert play.events()[0].fields == {"reason": "operator"}


@pytest.mark.parametrize("reason", ["sleep", "signal"])
def test_a_timer_that_runs_out_enters_the_job_again(reason):
    job = Play(waiting(reason=reason, deadline=NOW)).does(transitions.expire("job", 1))
    assert (job.state, job.wakes, job.failures) == (State.QUEUED, 1, 0)


def test_a_wait_for_somebody_else_that_runs_out_fails_the_job_with_the_reason():
    play = Play(waiting(reason="children", deadline=NOW))
    job = play.does(transitions.expire("job", 1))
    assert (job.state, job.error_kind, job.failures) == (State.FAILED, "wait_expired", 1)
    assert "waited for children" in job.error["message"]


def test_a_deadline_that_lies_ahead_does_not_expire():
    assert "still ahead" in Play(waiting()).refuses(transitions.expire("job", 1))


def test_poll_gives_the_one_who_works_on_it_from_outside_a_new_fence():
    play = Play(waiting(attempt=1))
    job = play.does(transitions.poll("job", "reconciler", 30))
    assert (job.state, job.attempt, job.leased, job.worker_id) == (State.WAITING, 2, True, "reconciler")
    assert job.lease_until == NOW + timedelta(seconds=30)
    assert "superseded" in play.refuses(transitions.succeed("job", 1, None))
    assert play.does(transitions.succeed("job", 2, "1")).state is State.SUCCEEDED


def test_two_pollers_never_hold_one_job():
    play = Play(waiting())
    play.does(transitions.poll("job", "first", 30))
    assert play.refuses(transitions.poll("job", "second", 30)) == "first is polling it"


def test_a_poller_that_stopped_answering_is_replaced():
    stale = waiting(attempt=2, leased=True, worker_id="first", lease_until=NOW - timedelta(seconds=1))
    assert Play(stale).does(transitions.poll("job", "second", 30)).worker_id == "second"


def test_a_resumed_job_belongs_to_nobody():
    held = waiting(attempt=2, leased=True, worker_id="poller", lease_until=NOW + timedelta(seconds=9))
    job = Play(held).does(transitions.resume("job", "provider"))
    assert (job.leased, job.lease_until, job.worker_id) == (False, None, None)


def test_a_waiting_job_can_be_retried_or_failed_from_outside():
    assert Play(waiting()).does(transitions.retry("job", 1, BROKEN, 0)).state is State.QUEUED
    assert Play(waiting()).does(transitions.fail("job", 1, BROKEN)).state is State.FAILED


def test_a_wake_of_a_queued_job_only_counts():
    play = Play(queued())
    wake(play.working, play["job"], "early")
    assert (play["job"].state, play["job"].wakes, play.names()) == (State.QUEUED, 1, [])
