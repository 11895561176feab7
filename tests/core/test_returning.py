"""Ways back to the queue: retry, retry_later, release, rescue, and the end of a cancelled handler."""

from datetime import timedelta

import pytest

from tests.core.trials import BROKEN, NOW, Trial, ended, running
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.core.reactions import RETRY_LATER_CAP


def expired(**fields):
    return running(**{"lease_until": NOW - timedelta(seconds=1), **fields})


def test_a_retry_counts_a_failure_and_waits_for_its_backoff():
    trial = Trial(running())
    job = trial.does(transitions.retry("job", 1, BROKEN, 2.5))
    assert (job.state, job.ready, job.reason, job.failures) == (State.QUEUED, False, "retry", 1)
    assert job.run_at == NOW + timedelta(seconds=2.5)
    assert (job.leased, job.worker_id, job.attempt) == (False, None, 1)
    assert trial.events()[0].fields["delay"] == 2.5


def test_a_retry_without_backoff_is_ready_at_once_and_keeps_its_place():
    trial = Trial(running())
    job = trial.does(transitions.retry("job", 1, BROKEN, 0))
    assert (job.ready, job.run_at, job.reason) == (True, None, None)
    assert trial.working_set.stamps == {"job": False}


def test_retry_later_burns_no_budget():
    job = Trial(running(failures=1)).does(transitions.retry_later("job", 1, "retry_later", "GPU busy", 60))
    assert (job.state, job.failures, job.retry_laters, job.reason) == (State.QUEUED, 1, 1, "retry_later")


def test_retry_later_ends_in_the_inbox_when_its_own_cap_is_reached():
    trial = Trial(running(retry_laters=RETRY_LATER_CAP - 2))
    trial.does(transitions.retry_later("job", 1, "retry_later", "GPU busy", 0))
    assert trial["job"].state is State.QUEUED
    trial = Trial(running(retry_laters=RETRY_LATER_CAP - 1))
    job = trial.does(transitions.retry_later("job", 1, "retry_later", "GPU busy", 0))
    assert (job.state, job.error_kind) == (State.FAILED, "retry_later")
    assert "GPU busy" in job.error["message"]


def test_release_hands_the_job_back_as_if_nothing_had_happened():
    trial = Trial(running(failures=1))
    job = trial.does(transitions.release("job", 1))
    assert (job.state, job.ready, job.failures, job.leased) == (State.QUEUED, True, 1, False)
    assert trial.events()[0].fields == {"reason": "shutdown"}


def test_a_job_that_nobody_here_can_run_is_set_aside():
    job = Trial(running()).does(transitions.release("job", 1, "no_handler", 30))
    assert (job.ready, job.reason, job.run_at) == (False, "no_handler", NOW + timedelta(seconds=30))


def test_rescue_takes_a_job_from_a_silent_worker_and_counts_a_failure():
    trial = Trial(expired())
    job = trial.does(transitions.rescue("job", 1))
    assert (job.state, job.failures, job.leased, job.worker_id) == (State.QUEUED, 1, False, None)
    assert trial.names() == ["job.rescued"]


def test_rescue_leaves_a_lease_alone_that_was_renewed_meanwhile():
    assert Trial(running()).refuses(transitions.rescue("job", 1)) == "its lease is still good"


def test_rescue_of_an_attempt_that_is_no_longer_the_latest_is_refused():
    assert "superseded" in Trial(expired(attempt=2)).refuses(transitions.rescue("job", 1))


def test_a_job_that_keeps_killing_its_workers_ends_in_the_inbox():
    trial = Trial(expired(failures=2, max_attempts=3))
    job = trial.does(transitions.rescue("job", 1))
    assert (job.state, job.error_kind, job.failures) == (State.FAILED, "crashed", 3)
    assert trial.names() == ["job.failed"]


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 3), (5, 31), (6, 60), (40, 60), (3000, 60)])
def test_rescue_backs_off_so_that_a_killer_does_not_loop(failures, seconds):
    job = Trial(expired(failures=failures, max_attempts=10_000)).does(transitions.rescue("job", 1))
    assert job.run_at == NOW + timedelta(seconds=seconds)


def test_returning_to_a_capped_lane_means_going_behind_its_gate():
    trial = Trial(running(gate=1, lane="l"))
    job = trial.does(transitions.release("job", 1))
    assert (job.ready, job.parked, job.reason) == (False, True, "capped")
    assert trial.working_set.gates == {("q", "l")}


def test_begun_work_passes_a_gate_that_counts_open_roots():
    job = Trial(running(gate=2, lane="l")).does(transitions.release("job", 1))
    assert (job.ready, job.parked) == (True, False)


def test_when_the_handler_of_a_cancelled_job_has_ended_its_lease_goes():
    held = ended(state=State.CANCELLED, leased=True, lease_until=NOW, worker_id="w")
    job = Trial(held).does(transitions.handler_ended("job", 1))
    assert (job.state, job.leased, job.worker_id) == (State.CANCELLED, False, None)


def test_a_requeued_job_starts_only_after_its_old_handler_has_ended():
    trial = Trial(ended(state=State.CANCELLED, leased=True, lease_until=NOW, worker_id="w"))
    job = trial.does(transitions.requeue("job"))
    assert (job.state, job.ready, job.reason) == (State.QUEUED, False, "ending")
    trial.does(transitions.handler_ended("job", 1))
    assert (job.ready, job.reason, job.leased) == (True, None, False)
    assert trial.working_set.stamps == {"job": True}


def test_the_word_of_an_older_handler_frees_no_newer_lease():
    held = ended(state=State.CANCELLED, attempt=2, leased=True, lease_until=NOW, worker_id="w")
    assert Trial(held).refuses(transitions.handler_ended("job", 1)) == "it holds no such lease"


def test_a_running_job_keeps_its_lease_whoever_says_its_handler_ended():
    assert Trial(running()).refuses(transitions.handler_ended("job", 1)) == "it holds no such lease"
